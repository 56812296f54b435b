/** What a run may be waiting for an answer to, and what each answer would do. */
import { CheckpointReport, EscalationCommand, SessionId, Step, WorkspaceCommand } from "@reprise/protocol"
import { Schema } from "effect"

/** A limit that was met (run-machine: Limits). */
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

/** `step`: continue, fix, override or abort. The others have options of their own (gate). */
const QuestionKind = Schema.Literals(["step", "prompt", "checkpoint", "continuation", "phase-gate"])

/** Where `fix` and `continue-session` lead. */
export const Retry = Schema.Struct({
  step: Step,
  /** Leads here instead when the answer brings guidance, so that it reaches the author. */
  withGuidance: Schema.optionalKey(Step),
  /** The limit that stopped the run: granted anew. */
  limit: Schema.optionalKey(Limit),
  /** The history was rewritten, and what of it is still shared: taken as it is. */
  base: Schema.optionalKey(Schema.String),
  /** Asked of the workspace again, instead of starting the step anew. */
  command: Schema.optionalKey(WorkspaceCommand)
})
export type Retry = typeof Retry.Type

/** A request of an agent for a permission, or a question that it asks in the middle of its turn. */
export const AgentPrompt = Schema.Struct({
  sessionId: SessionId,
  promptId: Schema.String,
  kind: Schema.Literals(["permission", "question"]),
  text: Schema.String,
  options: Schema.Array(Schema.Struct({ name: Schema.String, label: Schema.String }))
})
export type AgentPrompt = typeof AgentPrompt.Type

export const Question = Schema.Struct({
  kind: QuestionKind,
  /** As it is raised at the gate. */
  ask: EscalationCommand.cases.RaiseEscalation,
  retry: Retry,
  /** The session whose activity makes the question moot (run-machine: auto-resume). */
  watch: Schema.optionalKey(SessionId),
  /** What the author is told when it goes on in its session; absent: it knows. */
  brief: Schema.optionalKey(Schema.String),
  prompt: Schema.optionalKey(AgentPrompt)
})
export type Question = typeof Question.Type

/** A checkpoint that waits for its resolution. `from`: the author's step that reached it. */
export const OpenCheckpoint = Schema.Struct({ report: CheckpointReport, from: Step })
export type OpenCheckpoint = typeof OpenCheckpoint.Type
