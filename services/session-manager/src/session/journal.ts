/** The journal of a session: the public events it published, and what only it needs to know. */
import {
  ContextFill,
  EscalationId,
  Host,
  PermissionMode,
  PhaseId,
  ReportForm,
  Role,
  RunId,
  RuntimeId,
  RuntimeName,
  SessionCommand,
  SessionEvent,
  SessionId,
  SessionPrompts,
  Step,
  TurnId,
  TurnLimits,
  Usage
} from "@reprise/protocol"
import { Schema } from "effect"

/** `work` and `continuation` ask for work, `report` and `correction` for the report about it. */
export const PromptKind = Schema.Literals(["work", "continuation", "report", "correction"])

/** The ids under which a prompt is sent, and sent again (`PromptIds` of the runtime's port). */
export const PromptIdentity = Schema.Struct({ messageId: Schema.String, partId: Schema.String })

export const AgentQuestionKind = SessionEvent.cases.AgentPrompting.fields.kind

/** What an action is taken about, and attempts are counted for; never an error's text, which varies and would never run out of attempts. */
const Trigger = Schema.Literals([
  "idle",
  "gone",
  "prompt",
  "error.unauthorized",
  "error.out_of_credits",
  "error.rate_limited",
  "error.no_internet",
  "error.other"
])
export type Trigger = typeof Trigger.Type

/** What stays the same through a session's turns, until a turn changes it. */
export const SessionDetails = Schema.Struct({
  sessionId: SessionId,
  runId: RunId,
  role: Role,
  runtime: RuntimeName,
  model: Schema.optionalKey(Schema.String),
  variant: Schema.optionalKey(Schema.String),
  directory: Schema.String,
  host: Host,
  permissions: PermissionMode,
  title: Schema.String,
  phase: Schema.optionalKey(PhaseId),
  step: Schema.optionalKey(Step),
  /** Its last turn is the fixer's. */
  fixer: Schema.optionalKey(Schema.Boolean),
  report: ReportForm,
  prompts: Schema.optionalKey(SessionPrompts),
  /** It is uncommitted until the phase is approved. */
  reviewPath: Schema.optionalKey(Schema.String),
  /** As in `StartTurn`. */
  instructionsFrom: Schema.optionalKey(Schema.String),
  limits: TurnLimits,
  /** The prompt for a new session that has to start the task over. */
  wholePrompt: Schema.String
})
export type SessionDetails = typeof SessionDetails.Type

/** A turn as it was requested. */
export const TurnRequest = Schema.Struct({
  turnId: TurnId,
  prompt: Schema.String,
  /** Used in place of `prompt` when the session has to be replaced. */
  freshPrompt: Schema.String,
  onMissing: Schema.Literals(["fail", "reconstruct", "fresh"]),
  reason: Schema.String,
  /** The session starts over: nothing of its earlier conversation is handed on. */
  fresh: Schema.optionalKey(Schema.Boolean)
})
export type TurnRequest = typeof TurnRequest.Type

/** The intent to run a turn; no runtime was asked for anything yet. */
const TurnRequested = Schema.TaggedStruct("TurnRequested", {
  session: SessionDetails,
  turn: TurnRequest,
  /** `open`: make a new runtime session; `inspect`: look at the existing one first. */
  begin: Schema.Literals(["open", "inspect"]),
  at: Schema.String
})

/** The runtime session is gone or given up, and the turn goes on in a new one. */
const SessionLost = Schema.TaggedStruct("SessionLost", { turnId: TurnId, old: Schema.String, reason: Schema.String })

/** A runtime session exists and has not been prompted. */
const SessionOpened = Schema.TaggedStruct("SessionOpened", {
  turnId: TurnId,
  runtimeSessionId: RuntimeId,
  host: Host,
  /** The conversation of the session that this one replaces, or is a fork of. */
  context: Schema.optionalKey(Schema.String),
  /** Of a fork that is told the conversation: why it was not copied. */
  forkTold: Schema.optionalKey(Schema.String),
  /** Of a fork, as it was copied: what was used in it, and its newest prompt. */
  inherited: Schema.optionalKey(Usage),
  promptId: Schema.optionalKey(Schema.String),
  at: Schema.String
})

/** The next prompt of a turn, under ids that are used for no other prompt. */
const PromptPrepared = Schema.TaggedStruct("PromptPrepared", {
  turnId: TurnId,
  number: Schema.Int,
  kind: PromptKind,
  identity: PromptIdentity,
  text: Schema.String,
  /** It is sent only after this time. */
  delayMs: Schema.optionalKey(Schema.Finite),
  /** What went wrong with the prompt before it. */
  because: Schema.optionalKey(
    Schema.Literals(["unfinished", "turn-limit", "no-report", "invalid-report", "newer-words"])
  ),
  at: Schema.String
})

/** A prompt ended, well or not, and this is what it used. */
const PromptEnded = Schema.TaggedStruct("PromptEnded", {
  turnId: TurnId,
  number: Schema.Int,
  ...Usage.fields,
  attempts: Schema.Int,
  toolCalls: Schema.Int,
  humanMs: Schema.optionalKey(Schema.Finite),
  messages: Schema.optionalKey(Schema.Int),
  context: Schema.optionalKey(ContextFill),
  model: Schema.optionalKey(Schema.String),
  finish: Schema.optionalKey(Schema.String),
  lastLines: Schema.optionalKey(Schema.String),
  given: Schema.optionalKey(Schema.Boolean),
  /** The newest prompt that was answered, where it is not this one. */
  answered: Schema.optionalKey(Schema.String),
  /** HEAD of the session's directory. */
  commit: Schema.optionalKey(Schema.String),
  at: Schema.String
})

/** The turn waits before it sends the same prompt again. */
const TurnWaiting = Schema.TaggedStruct("TurnWaiting", {
  turnId: TurnId,
  number: Schema.Int,
  trigger: Trigger,
  waitMs: Schema.Finite,
  /** What the model's vendor said. */
  message: Schema.optionalKey(Schema.String),
  /** The configured action that this is, and which attempt; absent: the action was counted by itself. */
  index: Schema.optionalKey(Schema.Int),
  attempt: Schema.optionalKey(Schema.Int),
  at: Schema.String
})

/** The turn is being stopped on the runtime; it ends when nothing runs there any more. */
const TurnInterrupting = Schema.TaggedStruct("TurnInterrupting", { turnId: TurnId, reason: Schema.String })

/** The command to interrupt a turn has passed the one that requests it: the turn is not to begin. */
const InterruptedEarly = Schema.TaggedStruct("InterruptedEarly", { turnId: TurnId, reason: Schema.String })

/** The same prompt is sent again, and the runtime continues where it failed. */
const PromptRetried = Schema.TaggedStruct("PromptRetried", {
  turnId: TurnId,
  number: Schema.Int,
  /** The prompt was delayed and is sent for the first time. */
  first: Schema.optionalKey(Schema.Boolean),
  /** What was left of the wait when a human had it end. */
  leftMs: Schema.optionalKey(Schema.Finite),
  at: Schema.String
})

/** Another worker has taken up the prompt, and sends it again. */
const PromptTakenUp = Schema.TaggedStruct("PromptTakenUp", { turnId: TurnId, number: Schema.Int })

/** An existing session can be continued; it had this many messages when the turn began. */
const SessionFound = Schema.TaggedStruct("SessionFound", { turnId: TurnId, messages: Schema.Int, at: Schema.String })

/** The configured action replied to the agent; no human was asked. */
const AgentQuestionDecided = Schema.TaggedStruct("AgentQuestionDecided", {
  promptId: Schema.String,
  kind: AgentQuestionKind,
  text: Schema.String,
  options: Schema.Array(Schema.Struct({ name: Schema.String, label: Schema.String })),
  reply: Schema.String,
  message: Schema.optionalKey(Schema.String)
})

/** A human replied, or the run's auto mode. */
const AgentQuestionAnswered = Schema.TaggedStruct("AgentQuestionAnswered", {
  promptId: Schema.String,
  kind: AgentQuestionKind,
  reply: Schema.String,
  message: Schema.optionalKey(Schema.String)
})
/** The runtime lost a question, and the agent asks it again under another id: it stays the same question. */
const AgentQuestionRepeated = Schema.TaggedStruct("AgentQuestionRepeated", {
  promptId: Schema.String,
  runtimePromptId: RuntimeId
})
/** A question was reported that the agent asked after these, whose reports may come later. */
const QuestionsAskedEarlier = Schema.TaggedStruct("QuestionsAskedEarlier", {
  runtimePromptIds: Schema.Array(RuntimeId)
})
/** The agent no longer waits for a reply. */
const AgentQuestionClosed = Schema.TaggedStruct("AgentQuestionClosed", { promptId: Schema.String })

/** An action was taken, to be counted for the choice of the next. */
const ActionCounted = Schema.TaggedStruct("ActionCounted", {
  trigger: Trigger,
  index: Schema.Int,
  attempt: Schema.Int,
  at: Schema.String
})

/** A standalone session was started; the orchestrator is asked to run it. */
const StandaloneRequested = Schema.TaggedStruct("StandaloneRequested", {
  command: SessionCommand.cases.StartSession,
  at: Schema.String
})
/** The run of a standalone session asks a human, and no longer waits for the answer. */
const QuestionRaised = Schema.TaggedStruct("QuestionRaised", { escalationId: EscalationId })
const QuestionClosed = Schema.TaggedStruct("QuestionClosed", { escalationId: EscalationId })

/**
 * The conversation was saved; the session may go on. `digest`: of the messages; absent in older entries. `model`: the one
 * that answered last.
 */
const TranscriptSaved = Schema.TaggedStruct("TranscriptSaved", {
  object: Schema.String,
  messages: Schema.Int,
  digest: Schema.optionalKey(Schema.String),
  model: Schema.optionalKey(Schema.String),
  at: Schema.String
})

/** Its phase does not need the session any more. */
const SessionReleased = Schema.TaggedStruct("SessionReleased", { at: Schema.String })

/** When the activity that the entry's other events tell of was seen; once it has ended, the newest prompt. */
const ActivityNoted = Schema.TaggedStruct("ActivityNoted", {
  at: Schema.String,
  promptId: Schema.optionalKey(Schema.String)
})

/** A human has left the session. */
const HandedBack = Schema.TaggedStruct("HandedBack", { at: Schema.String })

/** Progress is only shown. */
const { TurnProgress: _, ...published } = SessionEvent.cases

export const JournalEvent = Schema.Union([
  TurnRequested,
  SessionLost,
  SessionOpened,
  PromptPrepared,
  PromptEnded,
  TurnWaiting,
  TurnInterrupting,
  InterruptedEarly,
  PromptRetried,
  PromptTakenUp,
  SessionFound,
  AgentQuestionDecided,
  AgentQuestionAnswered,
  AgentQuestionRepeated,
  QuestionsAskedEarlier,
  AgentQuestionClosed,
  StandaloneRequested,
  QuestionRaised,
  QuestionClosed,
  TranscriptSaved,
  SessionReleased,
  ActivityNoted,
  HandedBack,
  ActionCounted,
  ...Object.values(published)
])
export type JournalEvent = typeof JournalEvent.Type
export type EventOf<Tag extends JournalEvent["_tag"]> = Extract<JournalEvent, { readonly _tag: Tag }>
