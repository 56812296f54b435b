/** The journal of a Session actor: the public events it published, and what only it needs to know. */
import {
  ContextFill,
  EscalationCommand,
  EscalationId,
  Host,
  PermissionMode,
  PhaseId,
  ReportForm,
  Role,
  RunId,
  RuntimeName,
  SessionEvent,
  SessionId,
  SessionPrompts,
  Step,
  Tokens,
  TurnId,
  TurnLimits
} from "@reprise/protocol"
import { Schema } from "effect"
import { PromptIdentity, PromptingKind, PromptKind } from "./messages.ts"

/** What stays the same through a session's turns, until a turn says otherwise. */
export const SessionDetails = Schema.Struct({
  sessionId: SessionId,
  runId: RunId,
  role: Role,
  runtime: RuntimeName,
  model: Schema.optionalKey(Schema.String),
  directory: Schema.String,
  host: Host,
  permissions: PermissionMode,
  title: Schema.String,
  phase: Schema.optionalKey(PhaseId),
  step: Schema.optionalKey(Step),
  report: ReportForm,
  prompts: Schema.optionalKey(SessionPrompts),
  limits: TurnLimits,
  /** What a fresh session would have to be told. */
  wholePrompt: Schema.String,
  /** It belongs to no run, and asks humans by itself. */
  standalone: Schema.optionalKey(Schema.Boolean),
  /** Tokens that a standalone session may use in all. */
  budget: Schema.optionalKey(Schema.Finite)
})
export type SessionDetails = typeof SessionDetails.Type

/** One turn as it was asked for. */
export const TurnRequest = Schema.Struct({
  turnId: TurnId,
  prompt: Schema.String,
  /** Used in place of `prompt` when the session has to be replaced. */
  freshPrompt: Schema.String,
  onMissing: Schema.Literals(["fail", "fresh"]),
  reason: Schema.String,
  /** A human chose to continue the session. */
  continued: Schema.optionalKey(Schema.Boolean)
})
export type TurnRequest = typeof TurnRequest.Type

/** The intent to run a turn; nothing was asked of a runtime yet. */
const TurnRequested = Schema.TaggedStruct("TurnRequested", {
  session: SessionDetails,
  turn: TurnRequest,
  /** `open`: a runtime session is to be made; `inspect`: the session's own is to be looked at first. */
  begin: Schema.Literals(["open", "inspect"]),
  at: Schema.String
})

/** The session is not there any more, and the turn goes on in a new one. */
const SessionLost = Schema.TaggedStruct("SessionLost", { turnId: TurnId, old: Schema.String, reason: Schema.String })

/** A runtime session exists and has not been prompted. */
const SessionOpened = Schema.TaggedStruct("SessionOpened", {
  turnId: TurnId,
  runtimeSessionId: Schema.String,
  host: Host,
  /** What was said in the session that this one replaces. */
  context: Schema.optionalKey(Schema.String),
  at: Schema.String
})

/** The next prompt of a turn, under ids that are never used again. */
const PromptPlanned = Schema.TaggedStruct("PromptPlanned", {
  turnId: TurnId,
  number: Schema.Int,
  kind: PromptKind,
  identity: PromptIdentity,
  text: Schema.String,
  /** Sent this long after it was planned. */
  delayMs: Schema.optionalKey(Schema.Finite),
  /** Why a prompt follows one that did not end well. */
  because: Schema.optionalKey(Schema.Literals(["unfinished", "turn-limit", "invalid-report"])),
  at: Schema.String
})

/** A prompt ended, one way or another, having used this much. */
const PromptEnded = Schema.TaggedStruct("PromptEnded", {
  turnId: TurnId,
  number: Schema.Int,
  tokens: Tokens,
  cost: Schema.Finite,
  attempts: Schema.Int,
  toolCalls: Schema.Int,
  humanMs: Schema.optionalKey(Schema.Finite),
  messages: Schema.optionalKey(Schema.Int),
  context: Schema.optionalKey(ContextFill),
  lastLines: Schema.optionalKey(Schema.String),
  at: Schema.String
})

/** The turn waits for something that is nobody's fault. */
const TurnWaiting = Schema.TaggedStruct("TurnWaiting", {
  turnId: TurnId,
  number: Schema.Int,
  kind: Schema.Literals(["rate_limited", "out_of_credits", "no_internet", "unauthorized", "gone", "other"]),
  waitMs: Schema.Finite,
  /** Which of the configured actions this is, and which attempt. */
  place: Schema.optionalKey(Schema.Int),
  attempt: Schema.optionalKey(Schema.Int),
  at: Schema.String
})

/** The wait is over and the same prompt is sent again: the runtime goes on where it failed. */
const PromptRetried = Schema.TaggedStruct("PromptRetried", {
  turnId: TurnId,
  number: Schema.Int,
  /** It was held back, and is sent for the first time. */
  first: Schema.optionalKey(Schema.Boolean),
  at: Schema.String
})

/** The messages an existing session had when its turn began. */
const SessionFound = Schema.TaggedStruct("SessionFound", { turnId: TurnId, messages: Schema.Int, at: Schema.String })

/** What the agent asked is answered by the configured action; no human was asked. */
const PromptDecided = Schema.TaggedStruct("PromptDecided", {
  promptId: Schema.String,
  kind: PromptingKind,
  text: Schema.String,
  options: Schema.Array(Schema.Struct({ name: Schema.String, label: Schema.String })),
  reply: Schema.String
})

const PromptReplied = Schema.TaggedStruct("PromptReplied", {
  promptId: Schema.String,
  kind: PromptingKind,
  reply: Schema.String
})
/** The runtime lost a prompt, and the agent asks the same thing under another id: the same question, the same answer. */
const PromptAskedAgain = Schema.TaggedStruct("PromptAskedAgain", { promptId: Schema.String, askedAs: Schema.String })
const PromptClosed = Schema.TaggedStruct("PromptClosed", { promptId: Schema.String })

/** How often an action was tried, for the choice of the next. */
const ActionCounted = Schema.TaggedStruct("ActionCounted", {
  trigger: Schema.String,
  place: Schema.Int,
  attempt: Schema.Int,
  at: Schema.String
})

/** A standalone session waits for a human. */
const QuestionAsked = Schema.TaggedStruct("QuestionAsked", {
  kind: Schema.Literals(["step", "prompt"]),
  ask: EscalationCommand.cases.RaiseEscalation
})
/** `answered` and `withdrawn`: the gate closed it. Else we do. */
const QuestionClosed = Schema.TaggedStruct("QuestionClosed", {
  escalationId: EscalationId,
  how: Schema.Literals(["answered", "withdrawn", "agent-working", "superseded", "run-ended"])
})

/** The conversation was saved, though the session may go on. */
const TranscriptSaved = Schema.TaggedStruct("TranscriptSaved", {
  object: Schema.String,
  messages: Schema.Int,
  at: Schema.String
})

/** When the activity of the other events of the same entry was seen. */
const ActivityNoted = Schema.TaggedStruct("ActivityNoted", { at: Schema.String })

const {
  ActionTaken,
  AgentFailed,
  AgentGone,
  AgentIdle,
  AgentPrompting,
  AgentWorking,
  CommandRefused,
  SessionAborted,
  SessionArchived,
  SessionCompleted,
  SessionCreated,
  SessionExpired,
  SessionFailed,
  SessionPaused,
  SessionReplaced,
  SessionReused,
  TurnCompleted,
  TurnFailed,
  TurnStarted
} = SessionEvent.cases

export const JournalEvent = Schema.Union([
  TurnRequested,
  SessionLost,
  SessionOpened,
  PromptPlanned,
  PromptEnded,
  TurnWaiting,
  PromptRetried,
  SessionFound,
  PromptDecided,
  PromptReplied,
  PromptAskedAgain,
  PromptClosed,
  QuestionAsked,
  QuestionClosed,
  TranscriptSaved,
  ActivityNoted,
  ActionCounted,
  ActionTaken,
  AgentFailed,
  AgentGone,
  AgentIdle,
  AgentPrompting,
  AgentWorking,
  CommandRefused,
  SessionAborted,
  SessionArchived,
  SessionCompleted,
  SessionCreated,
  SessionExpired,
  SessionFailed,
  SessionPaused,
  SessionReplaced,
  SessionReused,
  TurnCompleted,
  TurnFailed,
  TurnStarted
])
export type JournalEvent = typeof JournalEvent.Type
export type EventOf<Tag extends JournalEvent["_tag"]> = Extract<JournalEvent, { readonly _tag: Tag }>
