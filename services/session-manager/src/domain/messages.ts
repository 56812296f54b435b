/**
 * What only the session-manager says to itself: the reports of its workers and watchers, its timers, and the work it
 * asks of a host. These cross this service's own subjects and no other.
 */
import {
  ContextFill,
  PermissionMode,
  PhaseId,
  Role,
  RunId,
  RuntimeName,
  Step,
  Tokens,
  TurnId,
  TurnLimits
} from "@reprise/protocol"
import { Effect, Schema } from "effect"

/** What one prompt used and left behind, as far as the runtime tells. */
const spent = {
  tokens: Tokens,
  cost: Schema.Finite,
  /** How often the prompt was taken up: 1 unless a worker died. */
  attempts: Schema.Int,
  toolCalls: Schema.Int.pipe(Schema.withDecodingDefaultKey(Effect.succeed(0))),
  /** How long it waited for a human's answers. */
  humanMs: Schema.optionalKey(Schema.Finite),
  /** Messages of the whole session, when known. */
  messages: Schema.optionalKey(Schema.Int),
  context: Schema.optionalKey(ContextFill),
  lastLines: Schema.optionalKey(Schema.String)
} as const

/** The prompt that a report is about: the n-th of its turn. */
const ofPrompt = { turnId: TurnId, number: Schema.Int } as const

export const PromptKind = Schema.Literals(["work", "continuation", "report", "correction"])
export type PromptKind = typeof PromptKind.Type

export const PromptingKind = Schema.Literals(["permission", "question"])

/** Sent by workers and watchers. */
export const SessionReport = Schema.TaggedUnion({
  RecordOpened: {
    turnId: TurnId,
    runtimeSessionId: Schema.String,
    host: Schema.String,
    /** What was said in the session that this one replaces, as far as it still holds. */
    context: Schema.optionalKey(Schema.String)
  },
  /** How an existing session was found. */
  RecordInspected: {
    turnId: TurnId,
    found: Schema.Literals(["usable", "missing", "empty"]),
    messages: Schema.Int.pipe(Schema.withDecodingDefaultKey(Effect.succeed(0)))
  },
  /** The agent showed its first activity for a prompt. */
  RecordWorking: { ...ofPrompt, evidence: Schema.String },
  /** The agent answered a prompt to the end. */
  RecordAnswer: { ...ofPrompt, ...spent, text: Schema.String },
  /** The runtime stopped before the agent was done; the session is sound. */
  RecordStopped: { ...ofPrompt, ...spent, why: Schema.Literals(["unfinished", "turn-limit"]) },
  RecordFailed: {
    ...ofPrompt,
    ...spent,
    kind: Schema.Literals([
      "unauthorized",
      "out_of_credits",
      "rate_limited",
      "no_internet",
      "timeout",
      "budget",
      "session-missing",
      "gone",
      "aborted",
      "other"
    ]),
    message: Schema.String,
    sessionUsable: Schema.Boolean,
    retryAfterMs: Schema.optionalKey(Schema.Finite),
    /** How long the runtime itself has waited and tried again. */
    waitedMs: Schema.optionalKey(Schema.Finite)
  },
  /** The model's vendor failed and the runtime tries again by itself. */
  RecordRecovering: {
    ...ofPrompt,
    kind: Schema.Literals(["unauthorized", "out_of_credits", "rate_limited", "no_internet", "other"]),
    message: Schema.String
  },
  /** A session could not even be opened or inspected. */
  RecordUnreachable: {
    turnId: TurnId,
    kind: Schema.Literals(["unauthorized", "gone", "other"]),
    message: Schema.String
  },
  /** The agent waits for a human. */
  RecordPrompting: {
    promptId: Schema.String,
    kind: PromptingKind,
    text: Schema.String,
    options: Schema.Array(Schema.Struct({ name: Schema.String, label: Schema.String }))
  },
  /** The agent no longer waits for the answer to this. */
  RecordPromptGone: { promptId: Schema.String },
  /** Activity that no prompt of ours caused. */
  ReportActivity: { cause: Schema.Literals(["human", "agent"]), evidence: Schema.String },
  ReportIdle: {},
  /** The conversation is in the object store. */
  RecordArchived: { object: Schema.String, messages: Schema.Int }
})
export type SessionReport = typeof SessionReport.Type

/** Sent by timers. `activity` is the session's count when the timer was set: a later one makes it stale. */
export const SessionTimer = Schema.TaggedUnion({
  PauseIdle: { activity: Schema.Int },
  ExpireIdle: { activity: Schema.Int },
  RetryPrompt: ofPrompt
})
export type SessionTimer = typeof SessionTimer.Type

const onRuntime = { runtime: RuntimeName, directory: Schema.String, runtimeSessionId: Schema.String } as const

/** The ids under which a prompt is sent, and sent again (`PromptIds` of the runtime's port). */
export const PromptIdentity = Schema.Struct({ messageId: Schema.String, partId: Schema.String })

/** Done on the host that has the session's files and runtime. */
export const SessionWork = Schema.TaggedUnion({
  OpenSession: {
    turnId: TurnId,
    runtime: RuntimeName,
    directory: Schema.String,
    title: Schema.String,
    permissions: PermissionMode,
    model: Schema.optionalKey(Schema.String),
    /** The saved transcript of the session that is replaced. */
    transcript: Schema.optionalKey(Schema.String)
  },
  InspectSession: { turnId: TurnId, ...onRuntime },
  RunPrompt: {
    ...ofPrompt,
    ...onRuntime,
    runId: RunId,
    phase: Schema.optionalKey(PhaseId),
    step: Schema.optionalKey(Step),
    role: Role,
    kind: PromptKind,
    identity: PromptIdentity,
    text: Schema.String,
    model: Schema.optionalKey(Schema.String),
    permissions: PermissionMode,
    limits: TurnLimits,
    /** What the turn used before this prompt. */
    spent: Tokens,
    /** When the turn began, ISO 8601: for the wall limit. */
    turnStartedAt: Schema.String,
    /** How much of the time since then it waited, for humans or for what passes by itself. */
    turnWaitedMs: Schema.Finite.pipe(Schema.withDecodingDefaultKey(Effect.succeed(0)))
  },
  /** Saves the conversation under this name, after whatever still runs in an aborted session was stopped. */
  SaveTranscript: { ...onRuntime, object: Schema.String, stop: Schema.Boolean },
  /** Interrupts whatever the session does. */
  InterruptSession: onRuntime,
  SendReply: { ...onRuntime, promptId: Schema.String, kind: PromptingKind, reply: Schema.String }
})
export type SessionWork = typeof SessionWork.Type
export type RunPrompt = Extract<SessionWork, { readonly _tag: "RunPrompt" }>
