import type { CheckpointReport } from "@reprise/protocol"
import { twoPhases } from "./samples.ts"
import { type Story, story } from "./story.ts"

export const done = [{ id: "P1.1", commit: "abc1234", files: ["a.ts"] }]

/** The second task of the first phase is a checkpoint of this type. */
export const planWith = (type: CheckpointReport["type"], plan = twoPhases): string =>
  plan.replace(/(?<=- \[ \] P1\.2 [A-Z][a-z ]+)$/m, ` (checkpoint: ${type})`)

/** An author has stopped at a checkpoint after its first task. Its type is the plan's, unless there is another plan. */
export const reached = (checkpoint: CheckpointReport, options = {}, plan = planWith(checkpoint.type)): Story =>
  story().executing(options, plan).reports({ result: "checkpoint", completedTasks: done, checkpoint })

/** And the record is written. */
export const at = (checkpoint: CheckpointReport, options = {}, plan = planWith(checkpoint.type)): Story =>
  reached(checkpoint, options, plan).stateWritten(".planning/x", { digest: "d1" })

export const decision: CheckpointReport = {
  task: "P1.2",
  type: "decision",
  description: "Red or blue?",
  options: [
    { id: "red", label: "All red" },
    { id: "blue", label: "All blue", recommended: true }
  ]
}
