/** Each input is decided by the family that it belongs to. */
import type { Delivery } from "@reprise/actor"
import type { SessionId } from "@reprise/protocol"
import { Result } from "effect"
import { handBack, recordWorking, reportActivity, reportIdle } from "../agent/activity.ts"
import { recordAgentQuestion, recordAgentQuestionGone, recordRefused, replyToPrompt } from "../agent/questions.ts"
import {
  abortSession,
  completeSession,
  expireIdle,
  expireSession,
  pauseIdle,
  releaseSession
} from "../lifecycle/lifecycle.ts"
import { questionClosed, questionRaised, startSession } from "../lifecycle/standalone.ts"
import { recordArchived, recordSaved } from "../lifecycle/transcript.ts"
import { type Decision, requireAddressedHere } from "../session/guards.ts"
import type { SessionInput } from "../session/inputs.ts"
import type { Session } from "../session/state.ts"
import type { SessionSettings } from "../settings.ts"
import { interruptTurn, recordInterrupted } from "../turn/interruptTurn.ts"
import { recordInspected, recordOpened, recordUnreachable } from "../turn/openSession.ts"
import { recordPromptFailed, recordRecovering, retryPrompt, retryTurn } from "../turn/promptFailures.ts"
import { recordPromptAgain, recordPromptResult, recordPromptStopped } from "../turn/promptResults.ts"
import { continueSession, startTurn } from "../turn/startTurn.ts"

/** Decides about a command that names its session. */
const addressed = (
  { sessionId }: { readonly sessionId: SessionId },
  delivery: Delivery,
  decideCommand: () => Decision
): Decision => Result.flatMap(requireAddressedHere(sessionId, delivery), decideCommand)

export const decide =
  (settings: SessionSettings) =>
  (session: Session, input: SessionInput, delivery: Delivery): Decision => {
    switch (input._tag) {
      case "StartTurn":
        return startTurn(session, input, delivery)
      case "ContinueSession":
        return addressed(input, delivery, () => continueSession(session, input, delivery))
      case "StartSession":
        return addressed(input, delivery, () => startSession(session, input, delivery))
      case "InterruptTurn":
        return addressed(input, delivery, () => interruptTurn(session, input, delivery))
      case "RetryTurn":
        return addressed(input, delivery, () => retryTurn(session, input, delivery))
      case "AbortSession":
        return addressed(input, delivery, () => abortSession(session, input, delivery))
      case "HandBack":
        return addressed(input, delivery, () => handBack(session, input, delivery))
      case "ReplyToPrompt":
        return addressed(input, delivery, () => replyToPrompt(session, input, delivery))
      case "CompleteSession":
        return addressed(input, delivery, () => completeSession(session, input))
      case "ExpireSession":
        return addressed(input, delivery, () => expireSession(session, input))
      case "ReleaseSession":
        return addressed(input, delivery, () => releaseSession(session, delivery))
      case "EscalationRaised":
        return questionRaised(session, input)
      case "EscalationAnswered":
      case "EscalationWithdrawn":
        return questionClosed(session, input)
      case "RecordOpened":
        return recordOpened(session, input, delivery, settings)
      case "RecordInspected":
        return recordInspected(session, input, delivery, settings)
      case "RecordUnreachable":
        return recordUnreachable(session, input, delivery)
      case "RecordPromptAgain":
        return recordPromptAgain(session, input)
      case "RecordWorking":
        return recordWorking(session, input, delivery)
      case "RecordPromptResult":
        return recordPromptResult(session, input, delivery, settings)
      case "RecordPromptStopped":
        return recordPromptStopped(session, input, delivery, settings)
      case "RecordPromptFailed":
        return recordPromptFailed(session, input, delivery, settings)
      case "RecordInterrupted":
        return recordInterrupted(session, input, delivery)
      case "RecordRecovering":
        return recordRecovering(session, input)
      case "RecordAgentQuestion":
        return recordAgentQuestion(session, input, delivery, settings)
      case "RecordAgentQuestionGone":
        return recordAgentQuestionGone(session, input)
      case "RecordRefused":
        return recordRefused(session, input)
      case "ReportActivity":
        return reportActivity(session, input, delivery)
      case "ReportIdle":
        return reportIdle(session, input, delivery)
      case "RecordSaved":
        return recordSaved(session, input)
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
