/**
 * The inputs of a session: public commands, the questions of standalone sessions, and what the session-manager
 * sends to itself: the reports of its workers and watchers, and its timers.
 */
import {
  ContextFill,
  FailureKind,
  type PublicEvent,
  RefusedBySandbox,
  RuntimeId,
  type SessionCommand,
  TurnId,
  Usage,
  VendorFailure
} from "@reprise/protocol"
import { Effect, Schema } from "effect"
import { AgentQuestionKind } from "./journal.ts"

/** A standalone session shows its open question. */
export const subscribed = ["EscalationRaised", "EscalationAnswered", "EscalationWithdrawn"] as const

export type GateEvent = Extract<PublicEvent, { readonly _tag: (typeof subscribed)[number] }>

export type SessionInput = SessionCommand | SessionReport | SessionTimer | GateEvent

/** Of the whole session, whoever prompted it, where the runtime tells: what it has used, and the model that answered last. */
const inAll = { total: Schema.optionalKey(Usage), model: Schema.optionalKey(Schema.String) } as const

/** What one prompt used and left behind, as far as the runtime tells. */
const usage = {
  ...Usage.fields,
  ...inAll,
  /** How often this worker sent the prompt: once, unless its runtime was away. Others may have sent it before. */
  attempts: Schema.Int,
  toolCalls: Schema.Int.pipe(Schema.withDecodingDefaultKey(Effect.succeed(0))),
  /** How long it waited for a human's answers. */
  humanMs: Schema.optionalKey(Schema.Finite),
  /** Messages of the whole session, when known. */
  messages: Schema.optionalKey(Schema.Int),
  context: Schema.optionalKey(ContextFill),
  /** Why the model stopped, in the runtime's word. */
  finish: Schema.optionalKey(Schema.String),
  lastLines: Schema.optionalKey(Schema.String),
  commit: Schema.optionalKey(Schema.String)
} as const

/** The prompt that a report is about: the n-th of its turn. */
const ofPrompt = { turnId: TurnId, number: Schema.Int } as const

/** Sent by workers and watchers. */
export const SessionReport = Schema.TaggedUnion({
  RecordOpened: {
    turnId: TurnId,
    runtimeSessionId: RuntimeId,
    host: Schema.String,
    /** The conversation of the session that this one replaces, or is a fork of, without outdated tool results. */
    context: Schema.optionalKey(Schema.String),
    /** Of a fork that is told the conversation: why it was not copied. */
    forkTold: Schema.optionalKey(Schema.String),
    /** Of a fork, as it was copied: what was used in it, and its newest prompt. */
    inherited: Schema.optionalKey(Usage),
    promptId: Schema.optionalKey(Schema.String),
    /** What is not committed in its directory, as a prompt lists it. */
    uncommitted: Schema.optionalKey(Schema.String)
  },
  /** The state in which an existing session was found. */
  RecordInspected: {
    turnId: TurnId,
    found: Schema.Literals(["usable", "missing", "empty"]),
    ...inAll,
    messages: Schema.Int.pipe(Schema.withDecodingDefaultKey(Effect.succeed(0)))
  },
  /** A worker takes up a prompt that another one had, who may have sent it. */
  RecordPromptAgain: ofPrompt,
  /** The agent showed its first activity for a prompt. */
  RecordWorking: { ...ofPrompt, evidence: Schema.String },
  /** The agent finished what the prompt asked for; `text` is its report. */
  RecordPromptResult: {
    ...ofPrompt,
    ...usage,
    text: Schema.String,
    /** Somebody else prompted the agent after it had answered: their words are newer than the report. */
    spokenAfter: Schema.optionalKey(Schema.Boolean),
    /** The newest prompt that was answered: somebody else's, if they spoke while the agent was at work. */
    answered: Schema.optionalKey(Schema.String)
  },
  /** The runtime stopped before the agent was done; the session can be continued. */
  RecordPromptStopped: { ...ofPrompt, ...usage, why: Schema.Literals(["unfinished", "turn-limit"]) },
  RecordPromptFailed: {
    ...ofPrompt,
    ...usage,
    kind: FailureKind,
    message: Schema.String,
    sessionUsable: Schema.Boolean,
    /** Whether the prompt is part of the session's conversation. Absent: the runtime could not tell. */
    given: Schema.optionalKey(Schema.Boolean),
    retryAfterMs: Schema.optionalKey(Schema.Finite),
    /** How long the runtime itself has been retrying. */
    waitedMs: Schema.optionalKey(Schema.Finite)
  },
  /** The turn was stopped on the runtime. */
  RecordInterrupted: {
    turnId: TurnId,
    given: Schema.optionalKey(Schema.Boolean),
    ...inAll,
    messages: Schema.optionalKey(Schema.Int),
    commit: Schema.optionalKey(Schema.String)
  },
  /** The model's vendor failed and the runtime retries by itself. */
  RecordRecovering: {
    ...ofPrompt,
    kind: VendorFailure,
    message: Schema.String
  },
  /** The session could not be opened or inspected. */
  RecordUnreachable: {
    turnId: TurnId,
    kind: FailureKind,
    message: Schema.String,
    /** It cannot be opened at any other time either. */
    forGood: Schema.optionalKey(Schema.Boolean)
  },
  /** The agent waits for a permission or an answer. */
  RecordAgentQuestion: {
    promptId: Schema.String,
    kind: AgentQuestionKind,
    text: Schema.String,
    options: Schema.Array(Schema.Struct({ name: Schema.String, label: Schema.String })),
    lastLines: Schema.optionalKey(Schema.String),
    /** What it asked before in the same prompt: reports are not always decided in their order. */
    earlier: Schema.optionalKey(Schema.Array(Schema.String))
  },
  /** The agent no longer waits for this answer. */
  RecordAgentQuestionGone: { promptId: Schema.String },
  /** A rule or the sandbox refused what the agent wanted to do. */
  RecordRefused: {
    promptId: Schema.String,
    text: Schema.String,
    rule: Schema.optionalKey(Schema.String),
    sandbox: Schema.optionalKey(RefusedBySandbox)
  },
  /** Activity that no prompt of ours caused began. */
  ReportActivity: { cause: Schema.Literals(["human", "agent"]), evidence: Schema.String },
  /** It ended. `promptId`: the newest prompt in the session. */
  ReportIdle: { ...inAll, promptId: Schema.optionalKey(Schema.String) },
  /** What was said until now is in the object store; the object names what was saved before it. */
  RecordSaved: { object: Schema.String, messages: Schema.Int, digest: Schema.String, readAt: Schema.String },
  /** The whole conversation is in one object. */
  RecordArchived: { ...inAll, object: Schema.String, messages: Schema.Int }
})
export type SessionReport = typeof SessionReport.Type
export type Report<Tag extends SessionReport["_tag"]> = Extract<SessionReport, { readonly _tag: Tag }>

/** Sent by timers. A timer is stale once the session's `useCount` is no longer the one it was set with. */
export const SessionTimer = Schema.TaggedUnion({
  PauseIdle: { useCount: Schema.Int },
  /** `held`: it expires although its phase or a question may need it. */
  ExpireIdle: { useCount: Schema.Int, held: Schema.optionalKey(Schema.Boolean) },
  /** `wait`: how many waits the turn had when it was set. Of an earlier one it is stale: a human had it end before its time. */
  RetryPrompt: { ...ofPrompt, wait: Schema.optionalKey(Schema.Int) }
})
export type SessionTimer = typeof SessionTimer.Type
export type Timer<Tag extends SessionTimer["_tag"]> = Extract<SessionTimer, { readonly _tag: Tag }>
