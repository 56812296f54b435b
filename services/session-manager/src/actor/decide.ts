/** Each input is decided by the family that it belongs to. */
import type { Delivery } from "@reprise/actor"
import type { SessionCommand } from "@reprise/protocol"
import { Result } from "effect"
import { recordWorking, reportActivity, reportIdle } from "../activity/activity.ts"
import { recordAgentQuestion, recordAgentQuestionGone, replyToPrompt } from "../agentQuestions/agentQuestions.ts"
import {
  abortSession,
  completeSession,
  expireIdle,
  expireSession,
  pauseIdle,
  recordArchived
} from "../lifecycle/lifecycle.ts"
import { questionClosed, questionRaised, startSession } from "../lifecycle/standalone.ts"
import type { SessionSettings } from "../settings.ts"
import { recordInspected, recordOpened, recordUnreachable } from "../turn/openSession.ts"
import { recordPromptFailed, recordRecovering, retryPrompt } from "../turn/promptFailures.ts"
import { recordPromptResult, recordPromptStopped } from "../turn/promptResults.ts"
import { continueSession, startTurn } from "../turn/startTurn.ts"
import { type Decision, requireAddressedHere } from "./guards.ts"
import type { SessionInput } from "./inputs.ts"
import type { Session } from "./state.ts"

export const decide =
  (settings: SessionSettings) =>
  (session: Session, input: SessionInput, delivery: Delivery): Decision => {
    switch (input._tag) {
      case "StartTurn":
        return startTurn(session, input, delivery)
      case "ContinueSession":
      case "StartSession":
      case "AbortSession":
      case "ReplyToPrompt":
      case "CompleteSession":
      case "ExpireSession":
        return Result.flatMap(requireAddressedHere(input.sessionId, delivery), () =>
          decideNamed(session, input, delivery)
        )
      case "EscalationRaised":
        return questionRaised(session, input)
      case "EscalationAnswered":
      case "EscalationWithdrawn":
        return questionClosed(session, input)
      case "RecordOpened":
        return recordOpened(session, input, delivery)
      case "RecordInspected":
        return recordInspected(session, input, delivery)
      case "RecordUnreachable":
        return recordUnreachable(session, input, delivery)
      case "RecordWorking":
        return recordWorking(session, input, delivery)
      case "RecordPromptResult":
        return recordPromptResult(session, input, delivery)
      case "RecordPromptStopped":
        return recordPromptStopped(session, input, delivery, settings)
      case "RecordPromptFailed":
        return recordPromptFailed(session, input, delivery, settings)
      case "RecordRecovering":
        return recordRecovering(session, input)
      case "RecordAgentQuestion":
        return recordAgentQuestion(session, input, delivery, settings)
      case "RecordAgentQuestionGone":
        return recordAgentQuestionGone(session, input)
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

/** A command that names its session. */
type NamedCommand = Exclude<SessionCommand, { readonly _tag: "StartTurn" }>

const decideNamed = (session: Session, command: NamedCommand, delivery: Delivery): Decision => {
  switch (command._tag) {
    case "ContinueSession":
      return continueSession(session, command, delivery)
    case "StartSession":
      return startSession(session, command, delivery)
    case "AbortSession":
      return abortSession(session, command, delivery)
    case "ReplyToPrompt":
      return replyToPrompt(session, command, delivery)
    case "CompleteSession":
      return completeSession(session, command)
    case "ExpireSession":
      return expireSession(session, command)
  }
}
