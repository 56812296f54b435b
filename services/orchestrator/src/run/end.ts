/** How runs end. Everything that a run started is released; the workspace of a run that did not complete is kept. */
import { defined, type WithdrawalReason } from "@reprise/protocol"
import type { RunEvent, RunEvents } from "./journal.ts"
import { isPrepared, locationOf } from "./standalone.ts"
import type { Pending, PhaseRun, Run } from "./state.ts"

type Ending = "completed" | "failed" | "aborted"

export const releaseWorkspace = (run: Run, outcome: Ending): RunEvent => ({
  _tag: "WorkspaceAsked",
  command: { _tag: "ReleaseWorkspace", runId: run.runId, outcome }
})

/** No human is to answer a question that has become moot. */
export const closeQuestion = (pending: Pending, reason: WithdrawalReason): RunEvents =>
  pending._tag === "Answer"
    ? [{ _tag: "QuestionWithdrawn", escalationId: pending.question.ask.escalationId, reason }]
    : []

/** The sessions of the phase, and its review. */
const stopAgents = ({ phase }: Run, reason: string): RunEvents => [
  ...(phase?.sessions ?? []).map((sessionId): RunEvent => ({ _tag: "SessionStopped", sessionId, reason })),
  ...(phase === undefined || phase.reviewCycles === 0 ? [] : [closeReview(phase, true, reason)])
]

export const completeRun = (run: Run): RunEvents => [
  { _tag: "RunCompleted", runId: run.runId },
  ...(isPrepared(run) && run.directory !== undefined ? [releaseWorkspace(run, "completed")] : [])
]

/** Before anything was touched. */
export const failRun = (run: Run, reason: string): RunEvents => [{ _tag: "RunFailed", runId: run.runId, reason }]

export const abortRun = (run: Run, reason: string): RunEvents => {
  const { pending, step } = run
  return [
    ...closeQuestion(pending, "run-ended"),
    { _tag: "RunAborted", ...locationOf(run), ...defined({ step }), reason },
    ...stopAgents(run, reason),
    ...(isPrepared(run) ? [releaseWorkspace(run, "aborted")] : [])
  ]
}

/** A standalone session has ended, whoever ended it, and its run with it. */
export const endWithSession = (run: Run, reason: string): RunEvents => [
  ...closeQuestion(run.pending, "run-ended"),
  { _tag: "RunAborted", runId: run.runId, reason }
]

export const isEnding = (status: Run["status"]): status is Ending =>
  status === "completed" || status === "failed" || status === "aborted"

export const isEnded = ({ status }: Run): boolean => isEnding(status)

export const closeReview = (phase: PhaseRun, aborted: boolean, reason: string): RunEvent => ({
  _tag: "ReviewClosed",
  phase: phase.id,
  aborted,
  reason
})
