/** The ends of a run. What it started is let go; the workspace of a run that did not complete is kept. */
import type { RunEvent, RunEvents } from "../Event.ts"
import { placeOf } from "../phases.ts"
import type { Pending, Run } from "../Run.ts"
import { closeReview } from "./review.ts"

const release = (run: Run, outcome: "completed" | "failed" | "aborted"): RunEvent => ({
  _tag: "WorkspaceAsked",
  command: { _tag: "ReleaseWorkspace", runId: run.runId, outcome }
})

/** Nobody is to answer a question of a run that has ended. */
const closeQuestion = (pending: Pending): RunEvents =>
  pending._tag === "Answer"
    ? [{ _tag: "QuestionWithdrawn", escalationId: pending.question.ask.escalationId, reason: "run-ended" }]
    : []

export const completeRun = (run: Run): RunEvents => [
  { _tag: "RunCompleted", runId: run.runId },
  ...(run.directory === undefined ? [] : [release(run, "completed")])
]

/** Before anything was touched. */
export const failRun = (run: Run, reason: string): RunEvents => [{ _tag: "RunFailed", runId: run.runId, reason }]

export const abortRun = (run: Run, reason: string): RunEvents => {
  const { pending, phase, step } = run
  return [
    ...closeQuestion(pending),
    { _tag: "RunAborted", ...placeOf(run), ...(step === undefined ? {} : { step }), reason },
    ...(phase?.sessions ?? []).map((sessionId): RunEvent => ({ _tag: "SessionStopped", sessionId, reason })),
    ...(phase === undefined || phase.reviewCycles === 0 ? [] : [closeReview(phase, true, reason)]),
    release(run, "aborted")
  ]
}
