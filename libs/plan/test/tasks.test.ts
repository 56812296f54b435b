import { assert, describe, it } from "@effect/vitest"
import { nextTask, parsePlan, taskList } from "../src/index.ts"
import { lines, parsed } from "./plans.ts"

const text = lines("## Phase 1: A", "- [ ] P1.1 a", "- [x] b", "  - [ ] c", "## Phase 2: B", "- [ ] d")
const phases = parsed(parsePlan(text)).phases
const first = phases[0] ?? assert.fail("no phase")

describe("taskList", () => {
  it("derives a missing id from the phase and the task's number", () => {
    assert.deepStrictEqual(
      phases.flatMap((phase) => taskList(phase).map(({ id }) => id)),
      ["P1.1", "1-T2", "1-T3", "2-T1"]
    )
  })

  it("keeps ids when boxes are ticked and items are added below", () => {
    const grown = `${text.replace("[ ] P1.1", "[x] P1.1").replace("[ ] c", "[x] c")}- [ ] e\n`
    assert.deepStrictEqual(
      parsed(parsePlan(grown)).phases.flatMap((phase) => taskList(phase).map(({ id }) => id)),
      ["P1.1", "1-T2", "1-T3", "2-T1", "2-T2"]
    )
  })
})

describe("nextTask", () => {
  it("returns the first task that is not completed, whatever the boxes say", () => {
    assert.strictEqual(nextTask(first, [])?.id, "P1.1")
    assert.strictEqual(nextTask(first, ["P1.1"])?.id, "1-T2")
    assert.strictEqual(nextTask(first, ["1-T2", "P1.1", "2-T1"])?.text, "c")
    assert.strictEqual(nextTask(first, ["1-T2", "P1.1", "1-T3"]), undefined)
  })
})
