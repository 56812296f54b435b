import { assert, describe, it } from "@effect/vitest"
import { parsePlan } from "@reprise/plan"
import { planIn } from "../src/phase/planIn.ts"
import { twoPhases } from "./support/samples.ts"

describe("the plan in a text", () => {
  it("is what the parser reads, and is read once for each text that was asked for lately", () => {
    assert.deepStrictEqual(planIn(twoPhases), parsePlan(twoPhases))
    assert.strictEqual(planIn(twoPhases), planIn(twoPhases))
    assert.notDeepEqual(planIn(`${twoPhases}\n- [ ] P2.2 More\n`), planIn(twoPhases))
  })

  it("is forgotten after sixteen other texts", () => {
    const first = planIn(twoPhases)
    for (let n = 0; n < 15; n++) planIn(`${twoPhases}\n<!-- ${n} -->\n`)
    assert.strictEqual(planIn(twoPhases), first)
    for (let n = 0; n < 16; n++) planIn(`${twoPhases}\n<!-- ${n} -->\n`)
    assert.notStrictEqual(planIn(twoPhases), first)
  })
})
