/**
 * What an author claims at a checkpoint is verified as strictly as at a completion, before a human is asked
 * (docs/design/continuation.md#checkpoint-types).
 */
import { type AuthorStatus, type CheckpointReport, defined } from "@reprise/protocol"
import type { InputOf } from "../run/inputs.ts"
import type { RunEvent, RunEvents } from "../run/journal.ts"
import { enter, type Outcome, outcome } from "../run/moves.ts"
import { phaseBegan, reviewFile, sameCommit } from "../run/plan.ts"
import { mergeTasks, type PhaseRun, type Run } from "../run/state.ts"
import { asPlanned, plannedType } from "./planned.ts"

/**
 * With human-verify the task is done and committed before a human verifies it, whether or not it is listed. The commit of
 * another task does not make it done.
 */
const withVerifiedTask = (
  phase: PhaseRun,
  { commit, completedTasks = [] }: AuthorStatus,
  { task, type }: CheckpointReport
): PhaseRun["completedTasks"] => {
  if (type !== "human-verify" || commit === undefined || completedTasks.some(({ id }) => id === task)) {
    return completedTasks
  }
  const others = [...phase.completedTasks, ...completedTasks].filter(({ id }) => id !== task)
  return others.some((other) => sameCommit(other.commit, commit))
    ? completedTasks
    : [...completedTasks, { id: task, commit, files: [] }]
}

const verifyClaims = (
  run: Run,
  phase: PhaseRun,
  status: AuthorStatus,
  tasks: PhaseRun["completedTasks"]
): RunEvent => ({
  _tag: "WorkspaceAsked",
  command: {
    _tag: "VerifyClaims",
    runId: run.runId,
    phase: phase.id,
    ...defined({ commit: status.commit }),
    tasks: mergeTasks([], tasks),
    earlier: phase.completedTasks,
    base: phase.base,
    phaseBase: phaseBegan(phase),
    reviewPath: reviewFile(run, phase)
  }
})

/** The author stopped at a checkpoint. */
export const claimCheckpoint = (
  run: Run,
  phase: PhaseRun,
  status: AuthorStatus,
  reported: CheckpointReport
): Outcome => {
  const report = asPlanned(run, phase, reported)
  const planned = plannedType(run, phase, report.task)
  const noted: RunEvents =
    planned === undefined || planned === reported.type
      ? []
      : [
          {
            _tag: "Noted",
            text: `${report.task} is ${planned} in the plan, but its author reported ${reported.type}.`
          }
        ]
  const claimed: RunEvent = { _tag: "CheckpointClaimed", checkpoint: { report, from: run.step ?? "EXECUTE" } }
  const tasks = withVerifiedTask(phase, status, report)
  return outcome([...noted, claimed, verifyClaims(run, phase, status, tasks)])
}

/** The author did not stop, or its agent went on: the checkpoint is raised on what is committed. */
export const raiseCheckpoint = (run: Run, phase: PhaseRun, status: AuthorStatus, report: CheckpointReport): Outcome => {
  const claimed: RunEvent = { _tag: "CheckpointClaimed", checkpoint: { report, from: run.step ?? "EXECUTE" } }
  return outcome([claimed, verifyClaims(run, phase, status, status.completedTasks ?? [])])
}

/** What the author claims holds: now the checkpoint is opened. */
export const claimsVerified = (phase: PhaseRun, { diffStat, tasks }: InputOf<"ClaimsVerified">): Outcome => {
  const accepted: RunEvent = { _tag: "ClaimsAccepted", tasks, ...defined({ diffStat }) }
  const { claimed } = phase
  return claimed === undefined
    ? outcome([accepted])
    : outcome([accepted, { _tag: "CheckpointOpened", checkpoint: claimed }], enter("CHECKPOINT", "checkpoint"))
}
