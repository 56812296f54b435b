// @module-tag long
import { rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  act,
  holdAnswers,
  lacksBrowser,
  openPage,
  presses,
  sees,
  startBrowser,
  startConsole
} from "../harness/browser.ts"
import { oneQuestion } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"

describe.skipIf(lacksBrowser)("a run that is started in the web console", () => {
  it.live("starts a run from the page, after saying what keeps it from starting", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        ...oneQuestion,
        files: { "BROKEN.md": "# Broken\n\n## Phase 1\n\n## Phase 1\n", "docs/NOTES.md": "# Notes\n\nNo plan.\n" }
      })
      const { address, link, up } = yield* startConsole(world)
      const { page, problems } = yield* openPage(yield* startBrowser)
      yield* holdAnswers(page)
      page.setDefaultTimeout(15000)
      yield* act(() => page.goto(link))
      yield* act(() => page.getByRole("link", { name: "Runs" }).click())
      yield* sees(page, "No runs yet")
      yield* act(() => page.getByRole("link", { name: "Start a run" }).click())
      yield* act(() => page.getByRole("radio", { name: "A plan" }).waitFor())
      assert.isTrue(yield* act(() => page.getByRole("radio", { name: /BROKEN\.md/ }).isDisabled()))
      assert.strictEqual(yield* act(() => page.getByText("NOTES.md").count()), 0)

      writeFileSync(join(world.root, "mine.txt"), "not committed")
      yield* act(() => page.getByRole("radio", { name: "A plan" }).check())
      yield* sees(page, /The working tree is not clean/)
      yield* act(() => page.getByRole("checkbox", { name: /Allow uncommitted files/ }).check())
      yield* act(() => page.getByRole("button", { name: "Start the run" }).waitFor())
      yield* act(() => page.getByRole("checkbox", { name: /Allow uncommitted files/ }).uncheck())
      yield* sees(page, /The working tree is not clean/)
      rmSync(join(world.root, "mine.txt"))
      yield* act(() => page.getByRole("checkbox", { name: /Without quality gates/ }).check())
      yield* presses(page, /^Start the run/)
      yield* act(() => page.waitForURL(`${address}/runs/*`))
      yield* act(() => page.getByRole("link", { name: "Answer its question" }).click())
      yield* sees(page, "Which colour?")

      yield* act(() => page.goto(`${address}/start`))
      yield* act(() => page.getByRole("radio", { name: "A plan" }).check())
      yield* sees(page, /PLAN\.md already has an open run/)
      yield* act(() => page.goto(address))
      yield* presses(page, /continue session/i)
      yield* presses(page, /^Send now/)
      yield* up.waitFor(/Run completed/)
      const [run, ...others] = yield* world.runs
      assert.deepStrictEqual([run?.status, others], ["completed", []])

      yield* act(() => page.getByRole("link", { name: "Settings" }).click())
      yield* act(() => page.getByRole("checkbox", { name: "Only those that are set" }).check())
      yield* act(() => page.getByText("permissions", { exact: true }).waitFor())
      assert.strictEqual(yield* act(() => page.getByText("log.level", { exact: true }).count()), 0)
      // A run that cannot start is answered with 422, which browsers note.
      assert.deepStrictEqual(
        problems.filter((problem) => !problem.includes("422")),
        []
      )
    })
  )
})
