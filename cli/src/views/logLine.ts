/** One public event as one line of a run's whole story: also those that live progress leaves out. Pure. */
import type { PublicEvent } from "@reprise/protocol"
import { eventLine } from "./eventLine.ts"

/** What is not worth a line while one watches. */
const quietLine = (event: PublicEvent): string => {
  switch (event._tag) {
    case "WorkspacePrepared":
      return `    workspace ${event.directory} at ${event.head.slice(0, 10)}`
    case "WorkspaceReleased":
      return "  workspace let go"
    case "TurnStarted":
      return `    turn ${event.turnId} in session ${event.sessionId}`
    case "TurnProgress":
      return `    … ${event.tokens.input + event.tokens.output} tokens`
    case "AgentWorking":
      return "    the agent works"
    case "AgentIdle":
      return "    the agent is idle"
    case "StepWaiting":
      return `  waits for an answer to ${event.escalationId}`
    case "EscalationReminded":
      return `  ${event.escalationId} still waits for an answer (reminder ${event.count})`
    case "SessionPaused":
      return `    session ${event.sessionId} paused`
    case "SessionExpired":
      return `    session ${event.sessionId} expired`
    case "SessionCompleted":
      return `    session ${event.sessionId} completed`
    case "SessionArchived":
      return `    session ${event.sessionId} archived`
    case "PhaseFinished":
      return `    the tree is clean at ${event.head.slice(0, 10)}`
    case "ContinuationStateWritten":
      return `    record written to ${event.path}`
    case "ContinuationVerified":
      return "    the record matches the repository"
    case "SummaryWritten":
      return `    summary written to ${event.path}`
    case "RunResumed":
      return "run resumed"
    default:
      return event._tag
  }
}

export const logLine = (event: PublicEvent): string => eventLine(event) ?? quietLine(event)
