// @module-tag long
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { type ReceiverHandle, startReceiver } from "@reprise/testing"
import { Effect } from "effect"
import { act, asks, lacksBrowser, openPage, presses, sees, startBrowser, startConsole } from "../harness/browser.ts"
import { makeCuttable } from "../harness/cuttable.ts"
import { oneQuestion } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"
import { waitUntil } from "../harness/waitUntil.ts"

const configFor = (url: string, origin: string): string => `permissions = "all"

[web]
origin = "${origin}"

[notify.channels.team]
preset = "webhook"
url = "${url}/hook"
secret = "env:HOOK_SECRET"

[notify.channels.quiet]
preset = "webhook"
url = "${url}/quiet"
secret = "env:HOOK_SECRET"
answerLinks = false
`
const environment = () => ({ HOOK_SECRET: "hush" })

interface Told {
  readonly kind: string
  readonly answers?: ReadonlyArray<{ readonly choice: string; readonly link: string }>
}
const toldAt = ({ requests }: ReceiverHandle, path: string): ReadonlyArray<Told> =>
  requests.filter((one) => one.path === path).map(({ body }) => JSON.parse(body))

/** The link that takes this choice, from the newest message about a question. */
const linkFor = (receiver: ReceiverHandle, choice: string) =>
  waitUntil(
    Effect.sync(
      () =>
        toldAt(receiver, "/hook")
          .findLast(({ kind }) => kind === "raised")
          ?.answers?.find((one) => one.choice === choice)?.link
    )
  )

describe.skipIf(lacksBrowser)("a link that answers, from a notification", () => {
  it.live("answers by one tap and never by being opened, once, also across processes that are killed", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver()
      const way = yield* makeCuttable()
      const world = yield* makeWorld({ ...oneQuestion, config: configFor(receiver.url, way.origin), environment })
      const first = yield* startConsole(world)
      way.leadTo(first.port)
      const question = yield* asks(world)
      const link = yield* linkFor(receiver, "continue-session")
      assert.isTrue(link.startsWith(`${way.origin}/answer#`), link)
      assert.isTrue(toldAt(receiver, "/quiet").every(({ answers }) => answers === undefined))

      const { page, problems, traffic } = yield* openPage(yield* startBrowser)
      yield* act(() => page.goto(link))
      yield* sees(page, "Which colour?")
      yield* act(() => page.getByRole("button", { name: "Answer “continue session”" }).waitFor())
      assert.deepStrictEqual(
        (yield* world.questions).map(({ escalationId }) => escalationId),
        [question.escalationId],
        "to open a link answers nothing"
      )
      const restart = Effect.fnUntraced(function* (process: typeof first.up) {
        yield* process.kill("SIGKILL")
        const next = yield* world.start("up", "--web", "--port", `${first.port}`)
        yield* next.waitFor(/Web console on /)
        return next
      })
      const second = yield* restart(first.up)
      yield* act(() => page.reload())
      yield* presses(page, /^Answer “continue session”/)
      yield* sees(page, /Answered: “continue session”|“continue session” is stored/)
      yield* second.waitFor(/Run completed/)
      const third = yield* restart(second)
      yield* act(() => page.reload())
      yield* sees(page, /This link was used\. Answered: someone in team chose “continue-session” through link/)
      assert.strictEqual(yield* act(() => page.getByRole("button", { name: /^Answer/ }).count()), 0)

      const [, capability = ""] = link.split("#")
      const log = readFileSync(join(world.root, ".reprise/logs/reprise.log"), "utf8")
      for (const { stderr, stdout } of [first.up, second, third]) assert.notInclude(stdout + stderr + log, capability)
      for (const referrer of traffic.referrers) assert.strictEqual(referrer, "")
      const requests = traffic.urls.map((url) => url.split("#")[0])
      for (const url of requests) assert.notInclude(url, capability)
      for (const { body } of receiver.requests) assert.notInclude(body, first.token)
      assert.notInclude(log, first.token)
      assert.deepStrictEqual(problems, [])
    })
  )
})
