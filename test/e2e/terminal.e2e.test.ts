import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { once, plan, script } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"

const author = { role: "author", kind: "report" } as const

describe("a question at the terminal", () => {
  it.live("is not answered by what was typed before, asks twice before an abort, and takes every line of a paste", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        openCode: "shared",
        plan: plan("One"),
        script: script(once(author, { hold: "working", report: { result: "needs_human", reason: "Which colour?" } }))
      })
      const run = yield* world.atTerminal("run", "PLAN.md")
      yield* world.model.awaitHeld("working")
      run.type("q\nq")
      yield* run.waitFor(/q\r?\nq/)
      yield* world.model.release("working")
      yield* run.waitFor(/Which colour\?[\s\S]*typed before[\s\S]*ignored[\s\S]*answer> \s*$/)

      run.type("q\n")
      yield* run.waitFor(/abort.*are you sure\? \[y\/N\] /)
      run.type("\n")
      yield* run.waitFor(/Not answered[\s\S]*answer> \s*$/)
      run.type("f: Blue,\nor green,\nnever red\n")
      assert.strictEqual((yield* run.ended).code, 0, run.stdout)
      const asked = (yield* world.model.calls).map(({ lastUser }) => lastUser)
      assert.isTrue(asked.some((text) => text.includes("Blue,\nor green,\nnever red")))
    })
  )
})
