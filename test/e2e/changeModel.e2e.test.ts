// @module-tag long
/** The model of an open run is changed: at the question that a failure of its model leads to, and on the command line. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { plan, script } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"

const unknownModel = Effect.gen(function* () {
  const world = yield* makeWorld({ openCode: "shared", plan: plan("One"), script: script() })
  const asked = yield* world.reprise("run", "PLAN.md", "--model", "scripted/nonsense")
  assert.strictEqual(asked.code, 4)
  assert.include(asked.stderr, "Model not found: scripted/nonsense")
  return { world, asked }
})

describe("the model of an open run", () => {
  it.live("is changed with the answer to the question that an unknown model leads to", () =>
    Effect.gen(function* () {
      const { asked, world } = yield* unknownModel
      assert.include(asked.stderr, "m = change the model and go on")
      const [question] = yield* world.questions
      const answer = ["gate", "answer", question?.escalationId ?? "", "change-model"] as const
      assert.strictEqual((yield* world.reprise(...answer)).code, 2, "it needs a name")
      assert.strictEqual((yield* world.reprise(...answer, "--guidance", "scripted/scripted")).code, 0)
      const { code, stderr } = yield* world.reprise("run", "PLAN.md")
      assert.strictEqual(code, 0, stderr)
      const [run] = yield* world.runs
      assert.deepStrictEqual(run?.models, { author: "scripted/scripted", reviewer: "scripted/scripted" })
      assert.include((yield* world.reprise("status", run?.runId ?? "")).stdout, "model scripted/scripted")
    })
  )

  it.live("is changed by 'reprise run --model', which says so", () =>
    Effect.gen(function* () {
      const { world } = yield* unknownModel
      const again = yield* world.reprise("run", "PLAN.md", "--model", "scripted/scripted")
      assert.strictEqual(again.code, 4)
      assert.include(again.stderr, "The author's next turn has model scripted/scripted; it was scripted/nonsense.")
      const [question] = yield* world.questions
      assert.strictEqual((yield* world.reprise("gate", "answer", question?.escalationId ?? "", "fix")).code, 0)
      const { code, stderr } = yield* world.reprise("run", "PLAN.md", "--model", "scripted/scripted")
      assert.strictEqual(code, 0, stderr)
      assert.notInclude(stderr, "it was", "nothing changes")
    })
  )
})
