import type { Delivery } from "@reprise/actor"
import type { PublicEvent, SessionCommand } from "@reprise/protocol"
import { Result } from "effect"
import { recordWorking, reportActivity, reportIdle } from "./activity.ts"
import { recordAnswer, recordStopped } from "./answers.ts"
import { recordArchived } from "./archive.ts"
import { recordFailed, recordRecovering, retryPrompt } from "./failures.ts"
import { type Decision, refuse } from "./guards.ts"
import { abortSession, completeSession, expireIdle, expireSession, pauseIdle } from "./lifecycle.ts"
import type { SessionReport, SessionTimer } from "./messages.ts"
import { recordInspected, recordOpened, recordUnreachable } from "./opening.ts"
import { recordPromptGone, recordPrompting, replyToPrompt } from "./prompting.ts"
import type { Session } from "./Session.ts"
import type { SessionSettings } from "./settings.ts"
import { escalationAnswered, escalationWithdrawn } from "./standalone/answered.ts"
import { withFollowUps } from "./standalone/followUps.ts"
import { startSession } from "./standalone/start.ts"
import { continueSession, startTurn } from "./startTurn.ts"

/** Answers to standalone sessions; those to runs are the orchestrator's. */
export const subscribed = ["EscalationAnswered", "EscalationWithdrawn"] as const

type GateNews = Extract<PublicEvent, { readonly _tag: (typeof subscribed)[number] }>

export type SessionInput = SessionCommand | SessionReport | SessionTimer | GateNews

/** A command that names another session than the one it was sent to. */
const strayCommand = (input: SessionInput, { key }: Delivery): Decision | undefined => {
  switch (input._tag) {
    case "ContinueSession":
    case "StartSession":
    case "AbortSession":
    case "ReplyToPrompt":
    case "CompleteSession":
    case "ExpireSession":
      return input.sessionId === key ? undefined : refuse(`This is session ${key}, not ${input.sessionId}.`)
    default:
      return undefined
  }
}

/** What an input means to the session, and, where it belongs to no run, what that leads to. */
export const decide =
  (settings: SessionSettings) =>
  (session: Session, input: SessionInput, delivery: Delivery): Decision =>
    Result.map(decideSession(settings)(session, input, delivery), (events) => withFollowUps(session, events, delivery))

const decideSession =
  (settings: SessionSettings) =>
  (session: Session, input: SessionInput, delivery: Delivery): Decision => {
    const stray = strayCommand(input, delivery)
    if (stray !== undefined) return stray
    switch (input._tag) {
      case "StartTurn":
        return startTurn(session, input, delivery)
      case "ContinueSession":
        return continueSession(session, input, delivery)
      case "StartSession":
        return startSession(session, input, delivery)
      case "EscalationAnswered":
        return escalationAnswered(session, input, delivery)
      case "EscalationWithdrawn":
        return escalationWithdrawn(session, input)
      case "AbortSession":
        return abortSession(session, input, delivery)
      case "ReplyToPrompt":
        return replyToPrompt(session, input, delivery)
      case "CompleteSession":
        return completeSession(session, input)
      case "ExpireSession":
        return expireSession(session, input)
      case "RecordOpened":
        return recordOpened(session, input, delivery)
      case "RecordInspected":
        return recordInspected(session, input, delivery)
      case "RecordUnreachable":
        return recordUnreachable(session, input, delivery)
      case "RecordWorking":
        return recordWorking(session, input, delivery)
      case "RecordAnswer":
        return recordAnswer(session, input, delivery)
      case "RecordStopped":
        return recordStopped(session, input, delivery, settings)
      case "RecordFailed":
        return recordFailed(session, input, delivery, settings)
      case "RecordRecovering":
        return recordRecovering(session, input)
      case "RecordPrompting":
        return recordPrompting(session, input, delivery, settings)
      case "RecordPromptGone":
        return recordPromptGone(session, input)
      case "ReportActivity":
        return reportActivity(session, input, delivery)
      case "ReportIdle":
        return reportIdle(session, delivery)
      case "RecordArchived":
        return recordArchived(session, input, delivery)
      case "PauseIdle":
        return pauseIdle(session, input)
      case "ExpireIdle":
        return expireIdle(session, input)
      case "RetryPrompt":
        return retryPrompt(session, input, delivery)
    }
  }
