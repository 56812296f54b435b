/**
 * A waiting step goes on by itself when its agent is seen working again: the question is withdrawn, and the agent is
 * asked for its report once it is idle (docs/design/sessions.md#auto-resume).
 */
import type { InputOf } from "../actor/inputs.ts"
import type { RunEvent } from "../actor/journal.ts"
import { escalate, type Outcome, outcome } from "../actor/moves.ts"
import type { PhaseRun, Run } from "../actor/state.ts"
import { askForReport } from "../author/ask.ts"
import { locationOf } from "../phase/plan.ts"
import type { Question } from "./question.ts"
import { grant } from "./retry.ts"

/** The question is moot. Its step goes on, and what was counted against it is forgotten. */
export const agentWorking = (run: Run, question: Question, event: InputOf<"AgentWorking">): Outcome => {
  const { kind, retry } = question
  const withdrawn: RunEvent = {
    _tag: "QuestionWithdrawn",
    escalationId: question.ask.escalationId,
    reason: "agent-working"
  }
  const resumed: RunEvent = {
    _tag: "StepResumed",
    ...locationOf(run),
    step: retry.step,
    sessionId: event.sessionId,
    cause: "agent-working"
  }
  return kind === "prompt"
    ? outcome([withdrawn, resumed], { _tag: "NextPrompt" })
    : outcome([withdrawn, ...grant(retry), resumed])
}

export const agentIdle = (run: Run, phase: PhaseRun, event: InputOf<"AgentIdle">): Outcome => {
  const { sessionId } = event
  return outcome([{ _tag: "AgentRested", sessionId }, ...askForReport(run, phase, run.step ?? "EXECUTE", sessionId)])
}

export const agentGone = (event: InputOf<"AgentGone">): Outcome =>
  outcome(
    [{ _tag: "AgentRested", sessionId: event.sessionId }],
    escalate({
      origin: "runtime",
      reason: `The agent of session ${event.sessionId} is gone.`,
      noContinue: "its agent is gone"
    })
  )
