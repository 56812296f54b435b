import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { boxMismatches, nextTask, parsePlan, taskList, tickBoxes, tickTasks } from "../src/index.ts"
import { lines, MarkdownLines, parsed, places, refused } from "./plans.ts"

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
    const grown = `${parsed(tickTasks(text, ["P1.1", "1-T3"]))}- [ ] e\n`
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

describe("boxMismatches", () => {
  it("returns ticked tasks that are not completed, and completed tasks that are not ticked", () => {
    assert.deepStrictEqual(boxMismatches(first, ["P1.1"]), [
      { id: "P1.1", checked: false, completed: true },
      { id: "1-T2", checked: true, completed: false }
    ])
    assert.deepStrictEqual(boxMismatches(first, ["1-T2"]), [])
  })
})

describe("tickTasks", () => {
  it("ticks the boxes of the given tasks and changes nothing else", () => {
    assert.strictEqual(
      parsed(tickTasks(text, ["1-T3", "P1.1", "1-T2"])),
      text.replace("[ ] P1.1", "[x] P1.1").replace("[ ] c", "[x] c")
    )
  })

  it.each([
    ["CRLF", text.replaceAll("\n", "\r\n")],
    ["a byte order mark", `\uFEFF${text}`],
    ["tabs around the box", text.replace("- [ ] d", "-\t[ ]\td")],
    ["boxes in code before it", `\`- [ ] d\`\n\n~~~\n- [ ] d\n~~~\n${text}`],
    ["no final newline", text.trimEnd()]
  ])("keeps %s", (_, odd) => {
    const at = odd.lastIndexOf("[")
    assert.strictEqual(parsed(tickTasks(odd, ["2-T1"])), `${odd.slice(0, at + 1)}x${odd.slice(at + 2)}`)
  })

  it("refuses an unknown task and a text that is not a plan", () => {
    assert.deepStrictEqual(places(refused(tickTasks(text, ["P1.1", "P9.9"]))), [["task-unknown", 1, 1]])
    assert.deepStrictEqual(places(refused(tickTasks("", []))), [["empty", 1, 1]])
  })

  it.prop(
    "ticks exactly the given tasks, and changes nothing the second time",
    [MarkdownLines, Schema.Array(Schema.Boolean)],
    ([all, choice]) => {
      const text = lines("## Phase 1: T", "- [ ] first", ...all.filter((line) => !line.startsWith("## Phase 1")))
      const result = parsePlan(text)
      if (result._tag === "Failure") return
      const plan = result.success
      const tasks = plan.phases.flatMap((phase) => taskList(phase))
      const ids = tasks.filter((_, index) => choice[index]).map(({ id }) => id)
      const ticked = parsed(tickBoxes(plan, ids))
      const again = parsed(parsePlan(ticked))
      assert.deepStrictEqual(
        again.phases.flatMap((phase) => taskList(phase)),
        tasks.map((task) => ({ ...task, checked: task.checked || ids.includes(task.id) }))
      )
      assert.strictEqual(parsed(tickBoxes(again, ids)), ticked)
      assert.strictEqual(parsed(tickBoxes(plan, [])), text)
    },
    { arbitrary: { runs: 300, size: 30 } }
  )
})
