import type { RunEvent } from "../Event.ts"

/** The line that an event adds to a run's notices: limits that were met, refusals, what broke, and what nobody was asked about. */
export const noticeOf = (event: RunEvent): string | undefined => {
  switch (event._tag) {
    case "Noted":
      return event.text
    case "CommitTurnedDown":
      return `Commit ${event.commit} was rejected (${event.reason}): ${event.detail}`
    case "TurnBroke":
      return event.kind === "aborted" ? undefined : `The author's turn failed (${event.kind}): ${event.message}`
    case "ReviewBroke":
      return `Review ${event.cycle} failed: ${event.reason}`
    case "WorkspaceBroke":
      return `${event.operation} failed: ${event.reason}`
    case "QuestionAsked": {
      const { origin, reason } = event.question.ask
      return origin === "limit" || origin === "quality" ? reason : undefined
    }
    case "LimitRaised":
      return `The limit '${event.limit}' of ${event.step} was granted anew.`
    case "HistoryAccepted":
      return `The history was rewritten above ${event.base}: it is taken as it is, and all since then is reviewed.`
    case "AutoRetried":
      return `Auto mode tries again: ${event.reason}`
    case "SessionSeen":
      return event.kind === "replaced"
        ? `Session ${event.sessionId} was replaced: ${event.reason ?? "no reason given"}`
        : undefined
    default:
      return undefined
  }
}
