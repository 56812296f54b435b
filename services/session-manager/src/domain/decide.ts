import type { Delivery } from "@reprise/actor"
import type { SessionCommand } from "@reprise/protocol"
import { recordWorking, reportActivity, reportIdle } from "./activity.ts"
import { recordAnswer, recordStopped } from "./answers.ts"
import { recordFailed, recordRecovering, retryPrompt } from "./failures.ts"
import type { Decision } from "./guards.ts"
import { abortSession, completeSession, expireIdle, expireSession, pauseIdle } from "./lifecycle.ts"
import type { SessionReport, SessionTimer } from "./messages.ts"
import { recordInspected, recordOpened, recordUnreachable } from "./opening.ts"
import { recordPromptGone, recordPrompting, replyToPrompt } from "./prompting.ts"
import type { Session } from "./Session.ts"
import type { SessionSettings } from "./settings.ts"
import { continueSession, startTurn } from "./startTurn.ts"

export type SessionInput = SessionCommand | SessionReport | SessionTimer

export const decide =
  (settings: SessionSettings) =>
  (session: Session, input: SessionInput, delivery: Delivery): Decision => {
    switch (input._tag) {
      case "StartTurn":
        return startTurn(session, input, delivery)
      case "ContinueSession":
        return continueSession(session, input, delivery)
      case "AbortSession":
        return abortSession(session, input, delivery)
      case "ReplyToPrompt":
        return replyToPrompt(session, input)
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
        return recordPrompting(session, input)
      case "RecordPromptGone":
        return recordPromptGone(session, input)
      case "ReportActivity":
        return reportActivity(session, input, delivery)
      case "ReportIdle":
        return reportIdle(session, delivery)
      case "PauseIdle":
        return pauseIdle(session, input)
      case "ExpireIdle":
        return expireIdle(session, input)
      case "RetryPrompt":
        return retryPrompt(session, input, delivery)
    }
  }
