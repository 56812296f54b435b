/** What an agent is seen doing while its step waits, and what it asks for in its turn (docs/design/sessions.md#auto-resume). */
import type { InputOf, RunInput } from "../actor/inputs.ts"
import type { RunEvent, RunEvents } from "../actor/journal.ts"
import { escalate, type Outcome, outcome } from "../actor/moves.ts"
import type { PhaseRun, Run } from "../actor/state.ts"
import { askForReport } from "../author/ask.ts"
import { locationOf } from "../phase/plan.ts"
import { askForAgent, evidenceOf } from "./escalate.ts"
import { type AgentPrompt, promptOptions, type Question } from "./question.ts"
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

/** The agent waits for the reply; its turn goes on underneath the question. */
const askPrompt = (run: Run, prompt: AgentPrompt): RunEvents =>
  askForAgent(
    run,
    { prompt, watch: prompt.sessionId },
    {
      origin: prompt.kind,
      reason: prompt.text,
      options: promptOptions(prompt),
      sessionId: prompt.sessionId,
      evidence: evidenceOf(run, { promptId: prompt.promptId })
    }
  )

/** Auto mode grants no permission, and answers every question. Undefined: only a human can reply. */
const unattendedReply = ({ kind, options }: AgentPrompt): string | undefined => {
  if (kind === "question") return "No human is available. Decide for yourself, and say in your report what you decided."
  return options.length === 0 || options.some(({ name }) => name === "reject") ? "reject" : undefined
}

export const agentPrompting = (run: Run, event: InputOf<"AgentPrompting">): Outcome => {
  const { kind, options, promptId, sessionId, text } = event
  const prompt: AgentPrompt = { sessionId, promptId, kind, text, options }
  const reply = run.request.options.auto ? unattendedReply(prompt) : undefined
  if (reply !== undefined) {
    return outcome([
      { _tag: "PromptReplied", sessionId, promptId, reply },
      { _tag: "Noted", text: `Auto mode answered the agent's ${kind} '${text}': ${reply}` }
    ])
  }
  if (run.pending._tag !== "Answer") return outcome(askPrompt(run, prompt))
  const known = [run.pending.question.prompt, ...run.prompts].some((one) => one?.promptId === promptId)
  return outcome(known ? [] : [{ _tag: "PromptSeen", prompt }])
}

export const askNextPrompt = (run: Run): RunEvents => {
  const [next] = run.prompts
  return next === undefined ? [] : askPrompt(run, next)
}

/** What ends a turn, a review or an agent's own work. */
const endings: ReadonlyArray<RunInput["_tag"]> = [
  "TurnCompleted",
  "TurnFailed",
  "VerdictReached",
  "ReviewFailed",
  "AgentIdle",
  "AgentGone",
  "CommandRefused"
]

/** A turn or review that ends makes the open question of its agent moot. */
export const withdrawMootPrompt = (run: Run, input: RunInput): RunEvents => {
  const { pending } = run
  return pending._tag === "Answer" && pending.under._tag !== "Nothing" && endings.includes(input._tag)
    ? [
        { _tag: "QuestionWithdrawn", escalationId: pending.question.ask.escalationId, reason: "superseded" },
        { _tag: "StepResumed", ...locationOf(run), cause: "agent-working" }
      ]
    : []
}
