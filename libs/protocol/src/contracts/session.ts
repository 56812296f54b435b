/**
 * What the session-manager accepts, publishes and shows: sessions, their turns and what their agents do
 * (docs/design/sessions.md). The codes of its refusals are at the end.
 */
import { Effect, Schema, SchemaTransformation } from "effect"
import { FailureKind, VendorFailure } from "../failure.ts"
import { EscalationId, Host, PhaseId, RunId, RuntimeId, SessionId, TurnId } from "../ids.ts"
import {
  AuthorStatus,
  ContextFill,
  PermissionMode,
  RefusedBySandbox,
  ReportForm,
  ReportKind,
  Role,
  RuntimeName,
  SessionPrompts,
  Step,
  Tokens,
  TurnLimits,
  Usage,
  Verdict
} from "../model.ts"
import { caused, contract, eventual } from "./Contract.ts"
import { atSession, atTurn, CommandRefused, directory, host, permissions, standaloneTask } from "./fields.ts"

/** What a turn used, and whether the fixer did, in a session of an author; `duration` in milliseconds. */
const used = {
  ...Usage.fields,
  duration: Schema.Finite,
  attempts: Schema.Int,
  fixer: Schema.optionalKey(Schema.Boolean)
}

const NamedChoice = Schema.TaggedUnion({ New: {}, Existing: { sessionId: SessionId } })
/**
 * Which session a turn is for. `New`: the key of the command is the new session's id. Written with a `_tag`; the bare
 * word `"New"` and a bare `{sessionId}` are read too.
 */
export const SessionChoice = Schema.Union([
  NamedChoice,
  Schema.Literal("New").pipe(
    Schema.decodeTo(
      NamedChoice.cases.New,
      SchemaTransformation.transform({ decode: () => ({ _tag: "New" as const }), encode: () => "New" as const })
    )
  ),
  Schema.Struct({ sessionId: Schema.String }).pipe(
    Schema.decodeTo(
      NamedChoice.cases.Existing,
      SchemaTransformation.transform({
        decode: ({ sessionId }) => ({ _tag: "Existing" as const, sessionId }),
        encode: ({ sessionId }) => ({ sessionId })
      })
    )
  )
])
export type SessionChoice = typeof SessionChoice.Type

/**
 * What becomes of a turn whose existing session is missing or empty. `fail`: it fails. `reconstruct`: it goes on in a new
 * runtime session that is told the saved conversation; it fails where none was saved. `fresh`: it goes on in a new one
 * with the whole prompt, and with the saved conversation if there is one.
 */
const OnMissing = Schema.Literals(["fail", "reconstruct", "fresh"])
const onMissing = OnMissing.pipe(Schema.withDecodingDefaultKey(Effect.succeed("fail" as const)))

/** Where a fork begins: at the end of a turn of another session. */
export const ForkPoint = Schema.Struct({
  sessionId: SessionId,
  /** The session's turns are counted from 1. */
  turn: Schema.Int
})
export type ForkPoint = typeof ForkPoint.Type

/** Key: session id. */
export const SessionCommand = Schema.TaggedUnion({
  StartTurn: {
    turnId: TurnId,
    runId: RunId,
    phase: Schema.optionalKey(PhaseId),
    step: Schema.optionalKey(Step),
    role: Role,
    /** The turn is the fixer's, whose sessions are an author's. */
    fixer: Schema.optionalKey(Schema.Boolean),
    session: SessionChoice,
    /**
     * With `New`: starts over under the id of a session that may exist already. It gets a new runtime session, which is
     * told nothing of the earlier conversation.
     */
    fresh: Schema.optionalKey(Schema.Boolean),
    onMissing,
    runtime: RuntimeName,
    model: Schema.optionalKey(Schema.String),
    /** As in `AgentChoice`. */
    variant: Schema.optionalKey(Schema.String),
    directory,
    host,
    permissions,
    title: Schema.optionalKey(Schema.String),
    prompt: Schema.String,
    /** The whole prompt for a fresh session, when `prompt` only makes sense in the old one. */
    freshPrompt: Schema.optionalKey(Schema.String),
    /** The phase's review, which is committed with its approval: a fresh author is not told of it as uncommitted. */
    reviewPath: Schema.optionalKey(Schema.String),
    /** A commit: what the repository tells agents is what this one says. Absent: what is in the directory. */
    instructionsFrom: Schema.optionalKey(Schema.String),
    report: ReportForm,
    prompts: Schema.optionalKey(SessionPrompts),
    limits: TurnLimits.pipe(Schema.withDecodingDefaultKey(Effect.succeed({}))),
    /** Why an existing session is used again; shown in SessionReused. */
    reason: Schema.optionalKey(Schema.String),
    /** This host is gone: what the session has there is lost, and it goes on on `host`. */
    movedFrom: Schema.optionalKey(Host)
  },
  ContinueSession: {
    turnId: TurnId,
    sessionId: SessionId,
    guidance: Schema.optionalKey(Schema.String),
    /** `provider/model`; absent: that of the session's last turn. */
    model: Schema.optionalKey(Schema.String),
    /** Absent: that of the session's last turn, or none where a model is named. */
    variant: Schema.optionalKey(Schema.String),
    /** Absent: those of the session's last turn. */
    limits: Schema.optionalKey(TurnLimits),
    phase: Schema.optionalKey(PhaseId),
    step: Schema.optionalKey(Step),
    /** As in StartTurn. Absent where a step is named: the turn is not the fixer's; else as the session's last turn. */
    fixer: Schema.optionalKey(Schema.Boolean),
    onMissing
  },
  /**
   * Starts a standalone session: one that belongs to no run. Its events and questions carry the session's id as their
   * run id. When its turn is done it is completed, else it asks a human.
   */
  StartSession: {
    sessionId: SessionId,
    ...standaloneTask,
    /**
     * The session begins with the conversation of another one up to this point. `repository`: absolute path of the git
     * repository in which `directory` is made, as a worktree on the branch `reprise/<session>`, at the commit of that turn.
     */
    fork: Schema.optionalKey(Schema.Struct({ ...ForkPoint.fields, repository: Schema.optionalKey(Schema.String) }))
  },
  /** Ends this turn and keeps its session: TurnFailed says `aborted`, with the session usable. Any other turn is let be. */
  InterruptTurn: { sessionId: SessionId, turnId: TurnId, reason: Schema.String },
  /** `onHost`: only while the session is on this host. */
  AbortSession: { sessionId: SessionId, reason: Schema.String, onHost: Schema.optionalKey(Host) },
  /** The turn waits for the model's vendor, and a human wants it to try again now. Refused unless this turn waits. */
  RetryTurn: { sessionId: SessionId, turnId: TurnId },
  /** A human who worked in the session leaves it: the agent counts as idle as soon as it stops working, without the grace. */
  HandBack: { sessionId: SessionId },
  ReplyToPrompt: {
    sessionId: SessionId,
    promptId: Schema.String,
    reply: Schema.String,
    /** What is said with the rejection of a permission, for the agent. */
    message: Schema.optionalKey(Schema.String),
    /** Nobody was asked: the run's auto mode replies. */
    unattended: Schema.optionalKey(Schema.Boolean)
  },
  /** The session's phase or run is done. */
  CompleteSession: { sessionId: SessionId },
  /** Its phase does not need the session any more: it expires once nobody has used it for a while. */
  ReleaseSession: { sessionId: SessionId },
  ExpireSession: { sessionId: SessionId }
})
export type SessionCommand = typeof SessionCommand.Type

export const sessionManagerEvents = {
  SessionCreated: {
    ...atSession,
    role: Role,
    runtime: RuntimeName,
    runtimeSessionId: RuntimeId,
    /** Of a fork whose conversation could not be copied, so that its first prompt tells it: why. */
    forkTold: Schema.optionalKey(Schema.String)
  },
  SessionReused: { ...atSession, runtimeSessionId: RuntimeId, reason: Schema.String },
  SessionReplaced: { ...atSession, old: Schema.String, new: Schema.String, reason: Schema.String },
  SessionPaused: atSession,
  SessionExpired: atSession,
  SessionCompleted: atSession,
  SessionAborted: { ...atSession, reason: Schema.String },
  /** The session cannot continue, by the action that is configured for its failure. */
  SessionFailed: { ...atSession, reason: Schema.String },
  SessionArchived: {
    ...atSession,
    /** The transcript's name in the object store. */
    object: Schema.optionalKey(Schema.String),
    messages: Schema.optionalKey(Schema.Int)
  },
  /** What the session-manager did without a human about an agent that was idle, gone, asking or failing. */
  ActionTaken: {
    ...atSession,
    trigger: Schema.Literals(["idle", "gone", "prompt", "error"]),
    action: Schema.Literals(["nudge", "report", "continue", "approve", "reject"]),
    /** The kind of the error, or what was asked. */
    about: Schema.optionalKey(Schema.String),
    /** Which attempt of this action, from 1. */
    attempt: Schema.Int
  },
  /** The agent was refused something. `unattended`: by auto mode, a configured action, a rule or the sandbox, not by a human. */
  PermissionRefused: {
    ...atSession,
    role: Role,
    promptId: Schema.String,
    /** What it wanted to do. */
    text: Schema.String,
    unattended: Schema.Boolean,
    /** The rule that refused it: nobody was asked. */
    rule: Schema.optionalKey(Schema.String),
    /** What the sandbox refused to a command: nobody was asked. */
    sandbox: Schema.optionalKey(RefusedBySandbox)
  },
  /** What a session used that no turn told of: by a human in it, or in a turn that had been reported already. */
  UsageCounted: { ...atSession, role: Role, ...Usage.fields },
  AgentWorking: { ...atSession, cause: Schema.Literals(["turn", "human", "agent"]), evidence: Schema.String },
  AgentIdle: atSession,
  AgentPrompting: {
    ...atSession,
    promptId: Schema.String,
    kind: Schema.Literals(["permission", "question"]),
    text: Schema.String,
    options: Schema.Array(Schema.Struct({ name: Schema.String, label: Schema.String })),
    /** What the agent wrote last before it asked, for a human. */
    lastLines: Schema.optionalKey(Schema.String)
  },
  AgentFailed: {
    ...atSession,
    kind: VendorFailure,
    message: Schema.String,
    /** The turn waits, and tries again by itself at this time (ISO 8601). Absent: it does not wait, or its runtime does. */
    until: Schema.optionalKey(Schema.String)
  },
  AgentGone: atSession,
  TurnStarted: atTurn,
  /** A turn that waited for the model's vendor tries again before its time, because a human said so. */
  TurnRetried: atTurn,
  TurnProgress: { ...atTurn, tool: Schema.optionalKey(Schema.String), tokens: Tokens },
  TurnCompleted: {
    ...atTurn,
    /** `data`: the turn was asked for with a JSON schema. */
    report: Schema.Literals([...ReportKind.literals, "data"]),
    /** With `author-status`; with `data` too when it happens to be one. */
    status: Schema.optionalKey(AuthorStatus),
    /** With `verdict`; with `data` too when it happens to be one. */
    verdict: Schema.optionalKey(Verdict),
    /** With `data`: the report as it fits the JSON schema. */
    data: Schema.optionalKey(Schema.JsonObject),
    ...used,
    context: Schema.optionalKey(ContextFill),
    /** The last lines that the agent wrote, for a human. */
    lastLines: Schema.optionalKey(Schema.String)
  },
  TurnFailed: {
    ...atTurn,
    kind: FailureKind,
    message: Schema.String,
    sessionUsable: Schema.Boolean,
    /** Whether the agent was given the turn's prompt. Absent: it is not known. */
    promptGiven: Schema.optionalKey(Schema.Boolean),
    /** The session has ended with its turn, or had ended before: nothing can be done in it any more. */
    sessionEnded: Schema.optionalKey(Schema.Boolean),
    /** When the model's vendor wants to be asked again, ISO 8601. Nothing happens by itself then. */
    retryAt: Schema.optionalKey(Schema.String),
    ...used,
    context: Schema.optionalKey(ContextFill),
    lastLines: Schema.optionalKey(Schema.String)
  }
} as const
export const SessionEvent = Schema.TaggedUnion({ ...sessionManagerEvents, CommandRefused })

/** A turn that has ended and whose words are in the session's conversation. */
export const PastTurn = Schema.Struct({
  turn: Schema.Int,
  turnId: TurnId,
  /** In which session of the runtime it was, and the id of its last prompt there. */
  runtimeSessionId: RuntimeId,
  promptId: Schema.String,
  /** ISO 8601. */
  endedAt: Schema.String,
  /** HEAD of the session's directory at its end. Absent: no git, or nobody could tell. */
  commit: Schema.optionalKey(Schema.String)
})
export type PastTurn = typeof PastTurn.Type

export const SessionView = Schema.Struct({
  sessionId: SessionId,
  runId: RunId,
  role: Role,
  runtime: RuntimeName,
  runtimeSessionId: Schema.optionalKey(RuntimeId),
  /** The one that answered last, as its runtime names it; before the first answer the one that was asked for. */
  model: Schema.optionalKey(Schema.String),
  directory: Schema.String,
  host: Host,
  /** Whether a process is there that does its work. Absent: the session has ended, or nobody could tell. */
  hosted: Schema.optionalKey(Schema.Boolean),
  status: Schema.Literals(["requested", "created", "active", "paused", "expired", "completed", "aborted", "failed"]),
  phase: Schema.optionalKey(PhaseId),
  turnId: Schema.optionalKey(TurnId),
  /** The open turn is being interrupted. */
  interrupting: Schema.optionalKey(Schema.Boolean),
  /** The open turn waits for the model provider, and is retried at this time (ISO 8601). */
  postponed: Schema.optionalKey(Schema.Struct({ until: Schema.String, kind: VendorFailure, message: Schema.String })),
  /** The runtime's id of the newest prompt that Reprise sent; whatever follows another prompt was a human's. */
  lastPromptId: Schema.optionalKey(Schema.String),
  /** The newest prompts whose work is known, ours and others', newest last: a last message of another one is news. */
  knownPromptIds: Schema.optionalKey(Schema.Array(Schema.String)),
  turns: Schema.Int,
  messages: Schema.Int,
  toolCalls: Schema.Int,
  /** How many permissions it was refused. */
  refusals: Schema.Int.pipe(Schema.withDecodingDefaultKey(Effect.succeed(0))),
  ...Usage.fields,
  createdAt: Schema.String,
  lastActivityAt: Schema.String,
  /** Why the model stopped, in its vendor's word; or what else ended the last turn. */
  lastStopReason: Schema.optionalKey(Schema.String),
  permissions: Schema.optionalKey(PermissionMode),
  /** Of a standalone session: what it was started with. Absent: the session belongs to a run. */
  prompt: Schema.optionalKey(Schema.String),
  /** Of a fork: the session and the turn after which it begins. */
  forkedFrom: Schema.optionalKey(ForkPoint),
  /** Of a fork whose conversation could not be copied, so that its first prompt tells it: why. */
  forkTold: Schema.optionalKey(Schema.String),
  /** The newest turns that have ended, newest last: after each of them the session can be forked. */
  pastTurns: Schema.optionalKey(Schema.Array(PastTurn)),
  /** The open question of a standalone session. */
  escalationId: Schema.optionalKey(EscalationId),
  /** What keeps a paused session from expiring. */
  heldBy: Schema.optionalKey(Schema.Literals(["turn", "agent", "question", "phase"])),
  /** Name of the saved transcript in the object store, of its newest part while it grows, and when it was read. */
  transcript: Schema.optionalKey(Schema.String),
  savedAt: Schema.optionalKey(Schema.String)
})
export type SessionView = typeof SessionView.Type

/**
 * What the watch over a host's sessions answers, as soon as it has looked at each of them: those in which somebody works
 * outside of turns.
 */
export const SessionsAtWork = Schema.Struct({ sessions: Schema.Array(SessionId) })

export const sessionManager = contract({
  service: "session-manager",
  actor: "session",
  key: SessionId,
  keyField: "sessionId",
  commands: SessionCommand,
  events: SessionEvent,
  view: SessionView,
  refusals: [
    "unreadable",
    "misaddressed",
    "not-found",
    "exists",
    "busy",
    "ended",
    "standalone",
    "invalid",
    "prompt-closed",
    "not-an-option",
    "not-waiting",
    "stale"
  ],
  outcomes: {
    StartTurn: caused("TurnStarted", "TurnFailed"),
    ContinueSession: caused("TurnStarted", "TurnFailed"),
    RetryTurn: caused("TurnRetried"),
    InterruptTurn: eventual("TurnFailed", "TurnCompleted"),
    AbortSession: caused("SessionAborted"),
    CompleteSession: caused("SessionCompleted"),
    ExpireSession: caused("SessionExpired"),
    ReleaseSession: eventual("SessionExpired", "SessionCompleted")
  }
})
