/** The questions that a run asks humans, as its journal keeps them (docs/design/gate.md#the-gate-where-humans-answer). */
import { CheckpointReport, EscalationCommand, Role, SessionId, Step, WorkspaceCommand } from "@reprise/protocol"
import { Schema } from "effect"

/** The limits that a human can grant once more. */
export const Limit = Schema.Literals([
  "step-visits",
  "run-steps",
  "tokens",
  "cost",
  "review-cycles",
  "stalled-review",
  "quality-retries",
  "continuations"
])
export type Limit = typeof Limit.Type

/** `step`: continue, fix, override or abort. The others have options of their own. */
const QuestionKind = Schema.Literals(["step", "prompt", "checkpoint", "continuation", "phase-gate"])

/** Where `fix` and `continue-session` lead. */
export const Retry = Schema.Struct({
  step: Step,
  /** Leads here instead when the answer brings guidance, so that it reaches the author. */
  withGuidance: Schema.optionalKey(Step),
  /** The limit that stopped the run: granted once more. */
  limit: Schema.optionalKey(Limit),
  /** The newest commit that a rewritten history still contains: going on accepts that history. */
  base: Schema.optionalKey(Schema.String),
  /** Asked of the workspace again, instead of beginning the step again. */
  command: Schema.optionalKey(WorkspaceCommand)
})
export type Retry = typeof Retry.Type

/** A request of an agent for a permission, or a question that it asks in the middle of its turn. */
export const AgentPrompt = Schema.Struct({
  sessionId: SessionId,
  promptId: Schema.String,
  kind: Schema.Literals(["permission", "question"]),
  text: Schema.String,
  options: Schema.Array(Schema.Struct({ name: Schema.String, label: Schema.String })),
  lastLines: Schema.optionalKey(Schema.String)
})
export type AgentPrompt = typeof AgentPrompt.Type

export const Question = Schema.Struct({
  kind: QuestionKind,
  /** As it is raised at the gate. */
  ask: EscalationCommand.cases.RaiseEscalation,
  retry: Retry,
  /** Whose model the answer `change-model` changes; absent: it is no choice. */
  changesModelOf: Schema.optionalKey(Role),
  /** The session whose activity makes the question moot, besides those that it names. */
  watch: Schema.optionalKey(SessionId),
  /** What the author is told when it continues its session; absent: it knows. */
  brief: Schema.optionalKey(Schema.String),
  prompt: Schema.optionalKey(AgentPrompt)
})
export type Question = typeof Question.Type

/** Whether activity in this session makes the question moot (docs/design/sessions.md#auto-resume). */
export const concerns = ({ ask, watch }: Question, sessionId: SessionId): boolean =>
  [watch, ask.sessionId, ask.evidence.sessionId, ask.evidence.authorSessionId].includes(sessionId)

/** A checkpoint that waits for its resolution. `from`: the author's step that reached it. */
export const OpenCheckpoint = Schema.Struct({ report: CheckpointReport, from: Step })
export type OpenCheckpoint = typeof OpenCheckpoint.Type

/** The question without continue among its choices, and with the reason why. */
const withoutContinue = (question: Question, why: string): Question => {
  const { sessionId: _, ...ask } = question.ask
  return {
    ...question,
    ask: {
      ...ask,
      options: ask.options.filter((option) => option.name !== "continue-session"),
      evidence: { ...ask.evidence, continueUnavailable: why }
    }
  }
}

/**
 * The question without a session that has ended; undefined: it does not name it. What an agent asks stays as it is until
 * its turn ends.
 */
export const withoutSession = (question: Question, sessionId: SessionId, why: string): Question | undefined => {
  const { evidence, sessionId: continued } = question.ask
  if (question.kind === "prompt") return undefined
  if (question.kind === "step" && continued === sessionId) return withoutContinue(question, why)
  const { authorSessionId, sessionId: asking, ...rest } = evidence
  if (asking !== sessionId && authorSessionId !== sessionId) return undefined
  const named = {
    ...(asking === undefined || asking === sessionId ? {} : { sessionId: asking }),
    ...(authorSessionId === undefined || authorSessionId === sessionId ? {} : { authorSessionId })
  }
  return { ...question, ask: { ...question.ask, evidence: { ...rest, ...named } } }
}
