/** What an agent asks for in its turn: a permission, or the answer to a question. */
import { defined } from "@reprise/protocol"
import type { InputOf, RunInput } from "../run/inputs.ts"
import type { RunEvents } from "../run/journal.ts"
import { type Outcome, outcome } from "../run/moves.ts"
import type { AgentPrompt } from "../run/question.ts"
import { locationOf } from "../run/standalone.ts"
import type { Run } from "../run/state.ts"
import { askForAgent, evidenceOf } from "./escalate.ts"
import { promptOptions } from "./options.ts"

/** Its words before it asked are newer than those at the end of its last turn. */
const askingAgent = ({ phase }: Run, { lastLines, sessionId }: AgentPrompt) => {
  const known = [phase?.author, phase?.reviewer].find((session) => session?.sessionId === sessionId)
  return { ...known, lastLines: lastLines ?? known?.lastLines }
}

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
      evidence: evidenceOf(run, askingAgent(run, prompt), { promptId: prompt.promptId })
    }
  )

/** Auto mode grants no permission, and answers every question. Undefined: only a human can reply. */
export const unattendedReply = ({ kind, options }: AgentPrompt): string | undefined => {
  if (kind === "question") return "No human is available. Decide for yourself, and say in your report what you decided."
  return options.length === 0 || options.some(({ name }) => name === "reject") ? "reject" : undefined
}

export const promptOf = (event: InputOf<"AgentPrompting">): AgentPrompt => {
  const { kind, lastLines, options, promptId, sessionId, text } = event
  return { sessionId, promptId, kind, text, options, ...defined({ lastLines }) }
}

export const agentPrompting = (run: Run, event: InputOf<"AgentPrompting">): Outcome => {
  const prompt = promptOf(event)
  const { kind, promptId, sessionId, text } = prompt
  const reply = run.request.options.auto ? unattendedReply(prompt) : undefined
  if (reply !== undefined) {
    return outcome([
      { _tag: "PromptReplied", sessionId, promptId, reply, unattended: true },
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
  "SessionExpired",
  "SessionCompleted",
  "SessionAborted",
  "SessionFailed",
  "SessionArchived",
  "CommandRefused"
]

/** A turn or review that ends makes the open question of its agent moot. */
export const withdrawMootPrompt = (run: Run, input: RunInput): RunEvents => {
  const { pending } = run
  const isEnd =
    endings.includes(input._tag) && !(input._tag === "CommandRefused" && input.command === "RaiseEscalation")
  return pending._tag === "Answer" && pending.under._tag !== "Nothing" && isEnd
    ? [
        { _tag: "QuestionWithdrawn", escalationId: pending.question.ask.escalationId, reason: "superseded" },
        { _tag: "StepResumed", ...locationOf(run), cause: "agent-working" }
      ]
    : []
}
