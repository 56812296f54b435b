import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { commits, on, plan, script } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"

describe("permissions in the default mode", () => {
  it.live("ask at the gate before a shell command, and an answer given while nothing runs lets the turn continue", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        plan: plan("One"),
        config: "",
        script: script(
          // Told that its command was interrupted, the model runs it again.
          on(
            { role: "author", kind: "work", afterTool: true, lastMessage: "interrupted" },
            commits("phase-{{phase}}.txt", "phase {{phase}} turn {{turn}}")
          )
        )
      })
      const run = yield* world.start("run", "PLAN.md", "--json")
      yield* run.waitFor(/"type":"EscalationRaised"/)
      const parked = yield* run.ended
      assert.strictEqual(parked.code, 4, parked.stderr)
      const [question] = yield* world.questions
      assert.strictEqual(question?.origin, "permission")
      assert.deepStrictEqual(question?.options.map(({ name }) => name).slice(0, 3), ["once", "always", "reject"])

      const again = yield* world.reprise("run", "PLAN.md", "--json")
      assert.strictEqual(again.code, 4, again.stderr)
      const open = yield* world.questions
      assert.strictEqual(open.length, 1, "one question is open after a restart")
      assert.match(again.stdout, new RegExp(`"type":"EscalationRaised".*"escalationId":"${open[0]?.escalationId}"`))

      const answered = yield* world.reprise("gate", "answer", open[0]?.escalationId ?? "", "once")
      assert.strictEqual(answered.code, 0, answered.stderr)
      const done = yield* world.reprise("run", "PLAN.md")
      assert.strictEqual(done.code, 0, done.stderr)
    })
  )
})
