import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { needsHuman, once, plan, script } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"

const report = { role: "author", kind: "report" } as const

describe("reprise gate", () => {
  it.live("asks every open question, and those that come later, until the user leaves", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        openCode: "shared",
        plan: plan("One"),
        script: script(once(report, needsHuman("Which colour?")), once(report, needsHuman("Which size?")))
      })
      world.environment["EDITOR"] = "printf 'Blue,\\nlike the {sky}\\n' >"
      const up = yield* world.start("up")
      yield* up.waitFor(/Serving/)
      assert.strictEqual((yield* world.reprise("run", "PLAN.md")).code, 4)

      const gate = yield* world.atTerminal("gate")
      yield* gate.waitFor(/Which colour\?[\s\S]*answer> /)
      gate.type("d\n")
      yield* gate.waitFor(/Write phase-1\.txt[\s\S]*\+phase 1 turn 1[\s\S]*answer> /)
      gate.type("c\n")
      yield* gate.waitFor(/guidance \(optional.*editor\)> /)
      gate.type("e\n")
      yield* gate.waitFor(/Which size\?[\s\S]*answer> /)
      const asked = (yield* world.model.calls).map(({ lastUser }) => lastUser)
      assert.isTrue(asked.some((text) => text.includes("Blue,\nlike the {sky}")))
      gate.type("\x03")
      assert.strictEqual((yield* gate.ended).code, 0)

      const again = yield* world.atTerminal("gate")
      yield* again.waitFor(/Which size\?[\s\S]*answer> /)
      const [size] = yield* world.questions
      yield* world.reprise("gate", "answer", size?.escalationId ?? "", "fix")
      yield* again.waitFor(/was answered by .*: fix/)
      yield* up.waitFor(/Run completed/)
      assert.match(up.stdout, new RegExp(`Waiting for you.*Which size.*reprise gate show ${size?.escalationId}`))
      assert.deepStrictEqual(yield* world.model.unmatched, [])
    })
  )
})
