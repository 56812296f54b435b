// @module-tag long
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  act,
  asks,
  holdAnswers,
  lacksBrowser,
  openPage,
  pictured,
  presses,
  sees,
  startBrowser,
  startConsole
} from "../harness/browser.ts"
import { identityProxy } from "../harness/identityProxy.ts"
import { oneQuestion } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"

const secret = "the secret of the proxy in this test"

describe.skipIf(lacksBrowser)("the web console for several people", () => {
  it.live("shows a viewer everything, without a way to answer, start, pause or abort, and who answered", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld(oneQuestion)
      const { address, link, token, up } = yield* startConsole(world, "--viewer-link")
      yield* up.waitFor(
        /For viewers on 127\.0\.0\.1:\d+: \S+\/ \(sign in with the token in \.reprise\/console-viewer\.token\)/
      )
      const viewers = readFileSync(join(world.root, ".reprise", "console-viewer.token"), "utf8").trim()
      assert.notStrictEqual(viewers, token)
      const question = yield* asks(world)
      const browser = yield* startBrowser
      for (const colorScheme of ["light", "dark"] as const) {
        for (const width of [360, 1440]) {
          const { page } = yield* openPage(browser, { colorScheme, viewport: { width, height: 800 } })
          yield* act(() => page.goto(`${address}/questions/${question.escalationId}#token=${viewers}`))
          yield* sees(page, /You are signed in as a viewer\. Only answerers can answer/)
          yield* pictured(page, `viewer-question ${colorScheme} ${width}`)
          yield* act(() => page.goto(`${address}/runs/${question.runId}`))
          yield* sees(page, "Only answerers can pause, resume and abort runs.")
          yield* pictured(page, `viewer-run ${colorScheme} ${width}`)
        }
      }
      const { page: viewer } = yield* openPage(browser)
      yield* act(() => viewer.goto(`${address}/#token=${viewers}`))
      yield* sees(viewer, "Which colour?")
      for (const name of [/continue session/i, /fix in new/i, /override/i, /^abort/i]) {
        assert.strictEqual(yield* act(() => viewer.getByRole("button", { name }).count()), 0)
      }
      yield* act(() => viewer.keyboard.press("c"))
      yield* act(() => viewer.goto(`${address}/start`))
      yield* sees(viewer, "Only answerers can start runs.")
      const status = yield* act(() =>
        viewer.evaluate(
          `fetch("/api/questions/${question.escalationId}/answer", { method: "POST", headers: { "content-type": "application/json", "x-reprise-session": localStorage.getItem("session") }, body: JSON.stringify({ commandId: "x", choice: "abort" }) }).then(({ status }) => status)`
        )
      )
      assert.strictEqual(status, 403)
      yield* act(() => viewer.goto(`${address}/questions/${question.escalationId}`))

      const { page: answerer } = yield* openPage(browser)
      yield* holdAnswers(answerer)
      yield* act(() => answerer.goto(link))
      yield* presses(answerer, /continue session/i)
      yield* presses(answerer, /^Send now/)
      yield* sees(viewer, /Answered: .* chose “continue-session” through web/)
      yield* up.waitFor(/Run completed/)
      assert.notInclude(`${up.stdout}${up.stderr}`, viewers)
      assert.notInclude(readFileSync(join(world.root, ".reprise/logs/reprise.log"), "utf8"), viewers)
    })
  )

  it.live(
    "takes names and roles from a proxy that shows its secret, and tells one to the other who answered first",
    () =>
      Effect.gen(function* () {
        const config = `permissions = "all"
[web]
userHeader = "X-Forwarded-Email"
groupsHeader = "X-Forwarded-Groups"
answerers = ["ada@example.org", "group:on-call"]
proxySecret = "env:PROXY_SECRET"
`
        const world = yield* makeWorld({ ...oneQuestion, config, environment: () => ({ PROXY_SECRET: secret }) })
        const { address, up } = yield* startConsole(world)
        const question = yield* asks(world)
        const browser = yield* startBrowser
        const as = Effect.fnUntraced(function* (email: string, groups: string, shown = secret) {
          const headers = { "x-forwarded-email": email, "x-forwarded-groups": groups, "x-reprise-proxy-secret": shown }
          const { page } = yield* openPage(browser)
          yield* holdAnswers(page)
          const named = yield* identityProxy(address, headers)
          yield* act(() => page.goto(`${named}/questions/${question.escalationId}`))
          return page
        })
        yield* sees(yield* as("ada@example.org", "", "a guess"), "Sign in to Reprise")
        const eve = yield* as("eve@example.org", "staff")
        yield* sees(eve, "Signed in: eve@example.org, viewer")
        const ada = yield* as("ada@example.org", "")
        const bob = yield* as("bob@example.org", "staff,on-call")
        yield* sees(bob, "Signed in: bob@example.org")
        yield* act(() => ada.getByLabel(/Guidance for the agent/).fill("Green"))
        yield* presses(bob, /continue session/i)
        yield* presses(bob, /^Send now/)
        // Two browsers and a terminal at once: one wins, the others are told by whom.
        yield* sees(ada, /Answered: bob@example\.org chose “continue-session” through web/)
        yield* sees(ada, /You had typed: Green/)
        const late = yield* world.reprise("gate", "answer", question.escalationId, "f")
        assert.include(
          `${late.stdout}${late.stderr}`.replace(/\s+/g, " "),
          "bob@example.org answered 'continue-session' through web"
        )
        yield* sees(eve, /Answered: bob@example\.org/)
        yield* up.waitFor(/Run completed/)
        const log = readFileSync(join(world.root, ".reprise/logs/reprise.log"), "utf8")
        assert.notInclude(`${log}${up.stdout}${up.stderr}`, secret)
      })
  )

  it.live("can be installed on a telephone", () =>
    Effect.gen(function* () {
      const { address } = yield* startConsole(yield* makeWorld(oneQuestion))
      const { page } = yield* openPage(yield* startBrowser)
      yield* act(() => page.goto(address))
      const devtools = yield* act(() => page.context().newCDPSession(page))
      const { installabilityErrors } = yield* act(() => devtools.send("Page.getInstallabilityErrors"))
      const errors = installabilityErrors.map(({ errorId }) => errorId)
      // The profile of a test installs nothing, and nothing else stands in the way.
      assert.deepStrictEqual(errors, ["in-incognito"])
    })
  )

  it.live("does not listen where others reach it without a proxy's secret, and says what to do", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ ...oneQuestion, config: 'permissions = "all"\n' })
      const up = (environment: Record<string, string>) => world.repriseIn({ environment }, "up", "--web", "--port", "0")
      const open = yield* up({ REPRISE_WEB_LISTEN: "0.0.0.0", REPRISE_WEB_ORIGIN: "https://reprise.example.org" })
      assert.strictEqual(open.code, 3, open.stdout)
      assert.match(
        open.stderr.replace(/\s+/g, " "),
        /must not listen on 0\.0\.0\.0: .* Set web\.origin and web\.proxySecret/
      )
      const short = yield* up({
        REPRISE_WEB_USER_HEADER: "X-User",
        REPRISE_WEB_PROXY_SECRET: "env:SHORT",
        SHORT: "guessable"
      })
      assert.strictEqual(short.code, 3, short.stdout)
      assert.notInclude(short.stderr, "guessable")
      for (const flags of [["--viewer-link"], ["--port", "0"]]) {
        const noWeb = yield* world.reprise("up", ...flags)
        assert.strictEqual(noWeb.code, 2, noWeb.stdout)
      }
    })
  )
})
