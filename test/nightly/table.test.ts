import { assert, describe, it } from "@effect/vitest"
import { renderTable } from "./table.ts"

describe("the table of a night", () => {
  it("has a row for each stage, with what it printed last, and counts those that passed", () => {
    const table = renderTable([
      { name: "tests", code: 0, seconds: 3_725.4, last: "\u001b[32m8000 passed\u001b[39m" },
      { name: "storm", code: 1, seconds: 61, last: "1 run was lost" }
    ])
    assert.strictEqual(
      table,
      [
        "stage  result      minutes  last line",
        "tests  passed      62:05    8000 passed",
        "storm  failed (1)  1:01     1 run was lost",
        "1 passed, 1 failed",
        ""
      ].join("\n")
    )
  })
})
