// @module-tag long
/** OpenCode adds the address of its schema to a configuration that it loads: no agent commits that. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { plan, script } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"

describe("a tracked opencode.json without the address of its schema", () => {
  it.live("is in no commit of an author that adds all files, also after OpenCode was started again", () =>
    Effect.gen(function* () {
      const config = '{"share":"disabled"}\n'
      const world = yield* makeWorld({ plan: plan("One"), files: { "opencode.json": config }, script: script() })
      for (const run of ["the first run", "another one, with another OpenCode"]) {
        const { code, stderr } = yield* world.reprise("run", "PLAN.md")
        assert.strictEqual(code, 0, stderr)
        const commits = world.git("log", "--format=%s", "--", "opencode.json").split("\n")
        assert.deepStrictEqual([run, commits], [run, ["Start"]])
        assert.strictEqual(world.git("show", "HEAD:opencode.json"), config.trimEnd())
        // The work of the author was committed.
        assert.notStrictEqual(world.git("log", "--format=%s", "--", "phase-1.txt"), "")
      }
    })
  )
})
