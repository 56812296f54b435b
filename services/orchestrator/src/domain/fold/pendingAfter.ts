import type { RunEvent } from "../Event.ts"
import type { Pending, Run } from "../Run.ts"

const nothing: Pending = { _tag: "Nothing" }

const below = (pending: Pending): Pending => (pending._tag === "Answer" ? pending.under : pending)

/** A turn whose session was stopped will report that it was aborted. */
const interrupted = (pending: Pending, sessionId: string): Pending =>
  pending._tag === "Turn" && pending.sessionId === sessionId ? { ...pending, interrupted: true } : pending

/** What the run waits for after an event: asking sets it, the answer clears it. */
export const pendingAfter = (run: Run, event: RunEvent): Pending => {
  const { pending } = run
  switch (event._tag) {
    case "WorkspaceAsked":
      return event.command._tag === "ReleaseWorkspace" ? pending : { _tag: "Workspace", command: event.command }
    case "AuthorAsked": {
      const { command, continued, purpose, sessionId } = event
      return { _tag: "Turn", turnId: command.turnId, sessionId, purpose, continued, interrupted: false }
    }
    case "ReviewAsked":
      return { _tag: "Review", cycle: event.command.cycle, commit: event.command.commit }
    case "QuestionAsked":
      return { _tag: "Answer", question: event.question, under: event.question.kind === "prompt" ? pending : nothing }
    case "QuestionChanged":
      return pending._tag === "Answer" ? { ...pending, question: event.question } : pending
    case "QuestionAnswered":
    case "QuestionWithdrawn":
      return below(pending)
    case "StepResumed":
      return event.cause === "agent-working" && pending._tag === "Nothing" && event.sessionId !== undefined
        ? { _tag: "Agent", sessionId: event.sessionId }
        : pending
    case "SessionStopped":
      return interrupted(pending, event.sessionId)
    case "ReviewClosed":
      return pending._tag === "Review" ? nothing : pending
    case "AgentRested":
    case "ReportReceived":
    case "TurnBroke":
    case "CommitAccepted":
    case "CommitTurnedDown":
    case "GatesEnded":
    case "VerdictAccepted":
    case "ReviewBroke":
    case "TreeChecked":
    case "WorkspaceTaken":
    case "WorkspaceBroke":
    case "StateWritten":
    case "TasksVerified":
    case "TasksMissing":
    case "PhaseSummarised":
    case "RunCompleted":
    case "RunFailed":
    case "RunAborted":
      return nothing
    default:
      return pending
  }
}
