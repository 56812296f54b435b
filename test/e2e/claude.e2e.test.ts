// @module-tag long
import { assert, describe, it } from "@effect/vitest"
import { lacksClaude } from "@reprise/testing"
import { Effect } from "effect"
import { correct, once, plan, script } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"

describe.skipIf(lacksClaude)("reprise run --runtime claude", () => {
  it.live("runs a plan through author and reviewer, and reviews a fix in the same reviewer session", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        plan: plan("One"),
        script: script(once({ role: "reviewer", kind: "report" }, correct("Say more")))
      })
      const run = yield* world.reprise("run", "PLAN.md", "--runtime", "claude")
      assert.strictEqual(run.code, 0, run.stderr)
      const [view] = yield* world.runs
      assert.strictEqual(view?.status, "completed")
      const calls = yield* world.model.calls
      assert.deepStrictEqual(new Set(calls.map(({ protocol }) => protocol)), new Set(["anthropic"]))
      const reviews = calls.filter(({ kind, role }) => role === "reviewer" && (kind === "work" || kind === "follow-up"))
      assert.deepStrictEqual(
        reviews.map(({ kind }) => kind),
        ["work", "follow-up"]
      )
      assert.strictEqual(new Set(reviews.map(({ session }) => session)).size, 1)
      assert.deepStrictEqual(new Set((yield* world.sessions).map(({ runtime }) => runtime)), new Set(["claude"]))
      assert.deepStrictEqual(yield* world.model.unmatched, [])
    })
  )
})
