import { assert, describe, it } from "@effect/vitest"
import { stateOf } from "../src/flows/repository/worktrees.ts"
import { aRun } from "./support/views.ts"

describe("the state of a worktree", () => {
  it.each([
    ["merged", { merged: true, dirty: [] }],
    ["merged", { merged: true, dirty: [], run: aRun({ status: "completed" }) }],
    ["nothing to merge yet", { merged: true, dirty: [], run: aRun({ status: "waiting" }) }],
    ["not merged", { merged: false, dirty: [], run: aRun({ status: "waiting" }) }],
    ["not merged, 2 uncommitted", { merged: false, dirty: ["a", "b"] }]
  ])("is '%s' of %j", (state, row) => {
    assert.strictEqual(stateOf(row), state)
  })
})
