import { assert, describe, it } from "@effect/vitest"
import type { CheckpointType } from "@reprise/protocol"
import { parsePlan, planOutline, resumeAt } from "../src/index.ts"
import { lines, parsed, refused } from "./plans.ts"

const plan = parsed(
  parsePlan(lines("## Phase 2: Auth", "- [ ] 02-01-T1 a", "- [ ] b", "- [ ] 02-01-T3 c", "- [ ] d", "- [ ] 02-01-T5 e"))
)

describe("the task after a checkpoint", () => {
  it.each<[CheckpointType, string, string, boolean]>([
    ["human-verify", "passed", "2-T4", false],
    ["human-verify", "pass", "2-T4", false],
    ["human-verify", "Passed: both buttons work", "2-T4", false],
    ["human-verify", "failed", "02-01-T3", true],
    ["human-verify", "failed: the second button passed", "02-01-T3", true],
    ["human-verify", "passed 1 of 2", "02-01-T3", true],
    ["human-verify", "", "02-01-T3", true],
    ["decision", "database", "02-01-T3", true],
    ["decision", "pass", "02-01-T3", true],
    ["human-action", "done", "02-01-T3", true],
    ["architectural-change", "approve", "02-01-T3", true]
  ])("follows from the type %s and the answer %j", (type, resolution, task, again) => {
    for (const known of [plan, planOutline(plan)]) {
      assert.deepStrictEqual(parsed(resumeAt(known, "2", { task: "02-01-T3", type }, resolution)), { task, again })
    }
  })

  it("is the next one that is not completed", () => {
    const checkpoint = { task: "02-01-T3", type: "human-verify" } as const
    assert.deepStrictEqual(parsed(resumeAt(plan, "2", checkpoint, "passed", ["2-T4"])), {
      task: "02-01-T5",
      again: false
    })
  })

  it("does not exist after the last task", () => {
    const checkpoint = { task: "02-01-T5", type: "human-verify" } as const
    assert.deepStrictEqual(parsed(resumeAt(plan, "2", checkpoint, "passed")), { again: false })
  })

  it("is refused when the plan lacks the phase or the checkpoint's task", () => {
    const checkpoint = { task: "02-01-T9", type: "decision" } as const
    assert.match(refused(resumeAt(plan, "2", checkpoint, "x")).message, /phase 2 has no task 02-01-T9/)
    assert.match(refused(resumeAt(plan, "3", { ...checkpoint, task: "2-T4" }, "x")).message, /phase 3 has no task/)
  })
})
