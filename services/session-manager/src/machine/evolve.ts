/** The fold of the journal: what each event changes. A family that several events belong to folds them itself. */
import { agentWorking } from "../agent/activity.ts"
import { evolveAgentQuestions } from "../agent/questions.ts"
import { evolveLifecycle } from "../lifecycle/lifecycle.ts"
import { evolveStandalone } from "../lifecycle/standalone.ts"
import { actionCounted } from "../session/actions.ts"
import type { JournalEvent } from "../session/journal.ts"
import { knowing, type Session, usedAt } from "../session/state.ts"
import { usageCounted } from "../session/usage.ts"
import { evolveTurn } from "../turn/evolveTurn.ts"

export const evolve = (session: Session, event: JournalEvent): Session => {
  switch (event._tag) {
    case "TurnRequested":
    case "SessionLost":
    case "SessionOpened":
    case "SessionFound":
    case "SessionReplaced":
    case "PromptPrepared":
    case "PromptRetried":
    case "PromptTakenUp":
    case "PromptEnded":
    case "TurnWaiting":
    case "TurnInterrupting":
    case "InterruptedEarly":
    case "AgentFailed":
    case "TurnCompleted":
    case "TurnFailed":
      return evolveTurn(session, event)
    case "AgentPrompting":
    case "AgentQuestionDecided":
    case "AgentQuestionAnswered":
    case "AgentQuestionRepeated":
    case "QuestionsAskedEarlier":
    case "AgentQuestionClosed":
      return evolveAgentQuestions(session, event)
    case "SessionPaused":
    case "SessionExpired":
    case "SessionCompleted":
    case "SessionAborted":
    case "SessionFailed":
    case "TranscriptSaved":
    case "SessionReleased":
    case "SessionArchived":
      return evolveLifecycle(session, event)
    case "ActivityNoted":
      return knowing(usedAt(session, event.at), event.promptId)
    case "AgentWorking":
      return agentWorking(session, event)
    case "AgentIdle":
      return { ...session, workingOutsideTurn: false }
    case "PermissionRefused":
      return event.sandbox === undefined ? { ...session, refusals: session.refusals + 1 } : session
    case "UsageCounted":
      return usageCounted(session, event)
    case "ActionCounted":
      return actionCounted(session, event)
    case "StandaloneRequested":
    case "QuestionRaised":
    case "QuestionClosed":
      return evolveStandalone(session, event)
    // Published, and told by other events to the session itself.
    case "ActionTaken":
    case "AgentGone":
    case "CommandRefused":
    case "HandedBack":
    case "SessionCreated":
    case "SessionReused":
    case "TurnRetried":
    case "TurnStarted":
      return session
  }
}
