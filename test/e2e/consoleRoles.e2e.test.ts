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
import { oneQuestion } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"

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
})
