import { assert, describe, it } from "@effect/vitest"
import type { Summary } from "@reprise/plan"
import { tasksBegun, tasksTable } from "../src/views/runText.ts"
import { cellsOf } from "./support/views.ts"

const summary: Summary = {
  planId: "plan",
  phases: [
    {
      id: "1",
      title: "Greet",
      tasks: [
        { id: "T1", name: "Begin", status: "complete (pre-checkpoint)", commit: "0123456789abcdef" },
        {
          id: "T2",
          name: "x".repeat(100),
          status: "checkpoint",
          checkpoint: "decision",
          resolution: "red:\u001b[31m\nAll"
        }
      ]
    },
    { id: "2", title: "Later", tasks: [{ id: "T3", name: "End", status: "pending" }] }
  ],
  overrides: [],
  declined: [],
  deviations: [],
  refusals: [],
  usage: []
}

describe("the table of tasks", () => {
  it("shows the state of each task in the phases that have begun, with control sequences made visible", () => {
    const table = tasksTable(tasksBegun(summary))
    assert.notInclude(table, "\u001b[31m")
    assert.deepStrictEqual(cellsOf(table).slice(0, 2), [
      ["phase", "task", "name", "status", "commit", "checkpoint"],
      ["1", "T1", "Begin", "complete (pre-checkpoint)", "0123456789", ""]
    ])
    assert.include(table, `${"x".repeat(47)}…`)
    assert.match(table, /decision: red:/)
    assert.notInclude(table, "T3")
  })

  it("is empty if no phase has begun or nothing is known", () => {
    const later = { ...summary, phases: summary.phases.slice(1) }
    assert.deepStrictEqual([...tasksBegun(later), ...tasksBegun(undefined)], [])
  })
})
