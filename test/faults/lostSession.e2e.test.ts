import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { needsHuman, once, plan, script } from "../harness/modelScript.ts"
import { deleteSession } from "../harness/openCodeUser.ts"
import { makeWorld } from "../harness/World.ts"

describe("continuing a session that was deleted", () => {
  it.live("explains at the gate what happened, offers only `fix`, and calls no model", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        openCode: "shared",
        plan: plan("One"),
        script: script(once({ role: "author", kind: "report" }, needsHuman("Which way?")))
      })
      const run = yield* world.atTerminal("run", "PLAN.md")
      yield* run.waitFor(/answer> /)
      const [author] = yield* world.sessions
      const calls = (yield* world.model.calls).length
      yield* deleteSession(world, author?.runtimeSessionId ?? "")
      run.type("c\n")
      yield* run.waitFor(/guidance \(optional/)
      run.type("\n")

      yield* run.waitFor(/guidance \(optional[\s\S]*answer> /)
      const [asked = assert.fail("no question is open")] = yield* world.questions
      assert.include(asked.reason, "does not know it any more")
      assert.deepStrictEqual(
        asked.options.map(({ name }) => name),
        ["fix", "override", "abort"]
      )
      assert.include(asked.evidence.continueUnavailable, "session-missing")
      assert.strictEqual((yield* world.model.calls).length, calls, "nothing was tried in its place")

      const answered = yield* world.reprise("gate", "answer", asked.escalationId, "fix", "--guidance", "The left one")
      assert.strictEqual(answered.code, 0, answered.stderr)
      const ended = yield* run.ended
      assert.strictEqual(ended.code, 0, ended.stdout)
      const fresh = (yield* world.model.calls)[calls]
      assert.deepInclude(fresh, { kind: "work", role: "author", turn: 1 })
      assert.include(fresh?.lastUser, "The left one")
    })
  )
})
