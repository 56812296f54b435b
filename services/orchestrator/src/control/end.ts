/** The ends of a run. What it started is let go; the workspace of a run that did not complete is kept. */

import type { WorkspaceCommand } from "@reprise/protocol"
import type { InputOf } from "../actor/inputs.ts"
import type { RunEvent, RunEvents } from "../actor/journal.ts"
import { escalate, type Outcome, outcome } from "../actor/moves.ts"
import type { Pending, Run } from "../actor/state.ts"
import { placeOf } from "../phase/plan.ts"
import { closeReview } from "../review/review.ts"

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

/** The workspace broke, or a service refused what the run asked for: asked again when a human says so. */

/** Before the workspace is prepared the run fails; a summary is not worth a human's time. */
export const workspaceBroke = (run: Run, command: WorkspaceCommand, reason: string): Outcome => {
  const broke: RunEvent = { _tag: "WorkspaceBroke", operation: command._tag, reason }
  switch (command._tag) {
    case "PrepareWorkspace":
      return outcome([broke, ...failRun(run, `The workspace cannot be prepared: ${reason}`)])
    case "WriteSummary":
      return command.phase === undefined
        ? outcome([broke, ...completeRun(run)])
        : outcome([broke, { _tag: "PhaseSummarised", phase: command.phase }], { _tag: "NextPhase" })
    default:
      return outcome(
        [broke],
        escalate({
          origin: "workspace",
          reason: `${command._tag} failed: ${reason}`,
          retry: { command },
          noContinue: "it is the workspace that failed, not the author"
        })
      )
  }
}

/** A service said no to what the run waits for. */
export const commandRefused = (run: Run, pending: Pending, event: InputOf<"CommandRefused">): Outcome => {
  const { command, reason } = event
  const message = `${command} was refused: ${reason}`
  switch (pending._tag) {
    case "Turn":
      return outcome(
        [{ _tag: "TurnBroke", turnId: pending.turnId, kind: "other", message, usable: false }],
        escalate({ origin: "runtime", reason: message })
      )
    case "Review":
      return outcome(
        [{ _tag: "ReviewBroke", cycle: pending.cycle, reason: message }],
        escalate({
          origin: "reviewer",
          reason: message,
          retry: { step: "REVIEW" },
          noContinue: "the reviewer refused, and its session is not the author's"
        })
      )
    case "Workspace":
      return workspaceBroke(run, pending.command, message)
    default:
      return outcome([])
  }
}
