/** Whether an input answers what the run waits for. Any other never moves the machine (run-machine). */

import { underWay } from "../control/pause.ts"
import { sameCommit } from "../phase/plan.ts"
import { isReviewerOf } from "../review/review.ts"
import type { RunInput } from "./inputs.ts"
import type { Pending, Run } from "./state.ts"

type WorkspacePending = Extract<Pending, { readonly _tag: "Workspace" }>

/** Whether a report of the workspace is about this request. */
const answersRequest = ({ command }: WorkspacePending, input: RunInput): boolean => {
  switch (input._tag) {
    case "WorkspacePrepared":
    case "WorkspaceRefused":
      return command._tag === "PrepareWorkspace"
    case "QualityPassed":
    case "QualityFailed":
      return (
        command._tag === "RunQualityGates" &&
        command.phase === input.phase &&
        command.attempt === input.attempt &&
        command.checkpoint === input.checkpoint
      )
    case "CommitVerified":
    case "CommitRejected":
      return (
        command._tag === "VerifyCommit" && command.phase === input.phase && sameCommit(command.commit, input.commit)
      )
    case "PhaseFinished":
    case "PhaseBlocked":
      return command._tag === "FinishPhase" && command.phase === input.phase
    case "ContinuationStateWritten":
      return command._tag === "WriteContinuationState" && command.phase === input.phase
    case "ContinuationVerified":
    case "ContinuationRejected":
      return command._tag === "VerifyContinuation" && command.phase === input.phase
    case "SummaryWritten":
      return command._tag === "WriteSummary" && command.phase === input.phase
    case "WorkspaceFailed":
      return input.phase === undefined || !("phase" in command) || command.phase === input.phase
    case "CommandRefused":
      return input.command === command._tag
    default:
      return false
  }
}

const answersTurn = (pending: Extract<Pending, { readonly _tag: "Turn" }>, input: RunInput): boolean => {
  switch (input._tag) {
    case "TurnCompleted":
    case "TurnFailed":
      return input.turnId === pending.turnId
    case "CommandRefused":
      return (
        (input.command === "StartTurn" || input.command === "ContinueSession") &&
        (input.turnId ?? pending.turnId) === pending.turnId &&
        (input.sessionId ?? pending.sessionId) === pending.sessionId
      )
    case "AgentPrompting":
      return input.sessionId === pending.sessionId && !pending.interrupted
    default:
      return false
  }
}

const answersReview = (run: Run, pending: Extract<Pending, { readonly _tag: "Review" }>, input: RunInput): boolean => {
  switch (input._tag) {
    case "VerdictReached":
    case "ReviewFailed":
      return input.phase === run.phase?.id && input.cycle === pending.cycle
    case "CommandRefused":
      return input.command === "RequestReview"
    case "AgentPrompting":
      return run.phase !== undefined && isReviewerOf(run, run.phase, input.sessionId)
    default:
      return false
  }
}

/** Answers to a question, and what makes it moot. */
const answersQuestion = (pending: Extract<Pending, { readonly _tag: "Answer" }>, input: RunInput): boolean => {
  const { question } = pending
  switch (input._tag) {
    case "AnswerReceived":
    case "EscalationWithdrawn":
      return input.escalationId === question.ask.escalationId
    case "AgentWorking":
      return input.cause !== "turn" && input.sessionId === question.watch
    default:
      return false
  }
}

export const concerns = (run: Run, input: RunInput): boolean => {
  if (run.pending._tag === "Answer" && answersQuestion(run.pending, input)) return true
  const pending = underWay(run.pending)
  switch (pending._tag) {
    case "Workspace":
      return answersRequest(pending, input)
    case "Turn":
      return answersTurn(pending, input)
    case "Review":
      return answersReview(run, pending, input)
    case "Agent":
      return (
        (input._tag === "AgentIdle" || input._tag === "AgentPrompting" || input._tag === "AgentGone") &&
        input.sessionId === pending.sessionId
      )
    default:
      return false
  }
}
