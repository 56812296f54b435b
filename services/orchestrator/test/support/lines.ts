import type { AnyOutgoing } from "@reprise/actor"
import type { PublicEvent } from "@reprise/protocol"

/** `StepStarted REVIEW (gates-passed)`, `workspace VerifyCommit`: what was sent, one line each. */
export const lineOf = (message: AnyOutgoing): string => {
  switch (message._tag) {
    case "SendCommand":
      return `${message.service} ${message.command._tag}`
    case "PublishEvent":
      return eventLine(message.event)
    default:
      return message._tag
  }
}

const eventLine = (event: PublicEvent): string => {
  switch (event._tag) {
    case "StepStarted":
      return `StepStarted ${event.step} (${event.cause})`
    case "StepWaiting":
      return `StepWaiting ${event.step}`
    case "StepResumed":
      return `StepResumed ${event.step ?? ""} (${event.cause})`
    case "PhaseStarted":
      return `PhaseStarted ${event.phase}`
    case "PhaseCompleted":
      return `PhaseCompleted ${event.phase} by ${event.by}`
    default:
      return event._tag
  }
}
