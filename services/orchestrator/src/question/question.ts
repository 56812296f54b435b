/** The questions that a run asks humans, and the choices of each kind (docs/design/gate.md#the-gate-where-humans-answer). */
import {
  CheckpointReport,
  EscalationCommand,
  type EscalationOption,
  Role,
  SessionId,
  Step,
  WorkspaceCommand
} from "@reprise/protocol"
import { Schema } from "effect"
import { shorten } from "../prompts.ts"

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

type Guidance = EscalationOption["guidance"]

const option = (
  name: string,
  label: string,
  guidance: Guidance = "none",
  keys: ReadonlyArray<string> = []
): EscalationOption => ({ name, label, keys, guidance })

const continueWith = (label: string) => option("continue-session", label, "optional", ["c"])
const continueSession = continueWith("continue session (resume the interrupted agent)")

/** The options where the model's vendor failed in a way that passes: to continue is to try again. */
export const tryingAgain = (options: ReadonlyArray<EscalationOption>): ReadonlyArray<EscalationOption> =>
  options.map((one) =>
    one.name === "continue-session"
      ? continueWith("continue session (resume the interrupted agent: it tries again now)")
      : one
  )
const abort = option("abort", "abort (stop execution)", "optional", ["q"])
const other = (label: string) => option("other", label, "required")

const fix = (label: string) => option("fix", label, "optional", ["f"])
const fixInNewSession = fix("fix in new session (start fresh with optional guidance)")

export const changeModel = option(
  "change-model",
  "change the model and go on (name it as in reprise.toml)",
  "required",
  ["m"]
)

/** `fixLabel`: what fix does where it starts no new author session. */
export const stepOptions = (continueOffered: boolean, fixLabel?: string): ReadonlyArray<EscalationOption> => [
  ...(continueOffered ? [continueSession] : []),
  fixLabel === undefined ? fixInNewSession : fix(fixLabel),
  option("override", "override and move on (force approve this phase)", "optional", ["o"]),
  abort
]

/** For a standalone session: it has no phase that could be approved. */
export const sessionOptions = (continueOffered: boolean): ReadonlyArray<EscalationOption> => [
  ...(continueOffered ? [continueSession] : []),
  fixInNewSession,
  option("abort", "abort (stop the session)", "optional", ["q"])
]

export const planOptions: ReadonlyArray<EscalationOption> = [
  option("fix", "read the plan again", "optional", ["f"]),
  option("override", "go on with the phases as they were", "optional", ["o"]),
  abort
]

export const phaseGateOptions: ReadonlyArray<EscalationOption> = [
  option("continue", "approve the phase and go on", "optional"),
  option("pause", "pause the run", "optional"),
  abort
]

export const continuationOptions: ReadonlyArray<EscalationOption> = [
  option("retry", "check again, now that the missing work is restored", "optional"),
  option("redo", "drop these tasks and have them done again", "optional"),
  abort
]

/** What is said with a rejection tells the agent what to do instead. */
const reject = (label: string) => option("reject", label, "optional")
const permissionOptions = [option("once", "allow once"), option("always", "allow always"), reject("reject")]

/** The runtime's own choices; a question of an agent also takes free text. */
export const promptOptions = (prompt: AgentPrompt): ReadonlyArray<EscalationOption> => {
  const own = prompt.options.map(({ label, name }) => (name === "other" ? other(label) : option(name, label)))
  if (prompt.kind === "permission") {
    return own.length === 0 ? permissionOptions : own.map((one) => (one.name === "reject" ? reject(one.label) : one))
  }
  return own.some(({ name }) => name === "other") ? own : [...own, other("answer in your own words")]
}

/** A human may pass and fail single steps: the notes on them are read by their numbers. */
const verifyLabels = ({ verifySteps = [] }: CheckpointReport): { readonly pass: string; readonly fail: string } => {
  const steps = verifySteps.map((step, index) => `${index + 1} (${shorten(step, 40)})`).slice(0, 8)
  if (steps.length === 0) return { pass: "everything is right", fail: "something is wrong" }
  const example = steps.length === 1 ? "1: fail, and why" : "1: pass; 2: fail, and why"
  return {
    pass: "everything is right: each step passes",
    fail: `something is wrong: say pass or fail for each step, ${steps.join(", ")}, as in "${example}"`
  }
}

export const checkpointOptions = (checkpoint: CheckpointReport): ReadonlyArray<EscalationOption> => {
  switch (checkpoint.type) {
    case "human-verify": {
      const { fail, pass } = verifyLabels(checkpoint)
      return [option("pass", pass, "optional"), option("fail", fail, "optional")]
    }
    case "decision": {
      const own = (checkpoint.options ?? []).map(({ id, label, recommended }) =>
        option(id, recommended === true ? `${label} (recommended)` : label, "optional")
      )
      return own.some(({ name }) => name === "other") ? own : [...own, other("something else, in your own words")]
    }
    case "human-action":
      return [option("done", "the action is done", "optional"), option("cannot", "it cannot be done", "optional")]
    case "architectural-change":
      return [
        option("approve", "go on with the proposed approach", "optional"),
        other("take another approach, in your own words"),
        abort
      ]
  }
}

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
