/**
 * Public events: past tense, facts anyone may read. The key token of their subject is the run id
 * (standalone sessions: the session id), whichever service publishes them (protocol: Messages, Events).
 */
import { Schema } from "effect"
import { EscalationId, Host, PhaseId, RunId, SessionId, TurnId } from "./ids.ts"
import {
  AuthorStatus,
  CheckpointType,
  CommitSubject,
  ContextFill,
  EscalationOption,
  EscalationOrigin,
  Evidence,
  FailureKind,
  GateResult,
  Item,
  ReportKind,
  Role,
  RuntimeName,
  SessionDecision,
  StateFileProblem,
  Step,
  Tokens,
  Verdict
} from "./model.ts"

const at = {
  runId: RunId,
  phase: Schema.optionalKey(PhaseId),
  step: Schema.optionalKey(Step),
  sessionId: Schema.optionalKey(SessionId),
  turnId: Schema.optionalKey(TurnId)
} as const

const atSession = { ...at, sessionId: SessionId, role: Schema.optionalKey(Role) } as const
const atTurn = { ...atSession, turnId: TurnId } as const
const atPhase = { ...at, phase: PhaseId } as const

const orchestrator = {
  RunStarted: {
    ...at,
    planPath: Schema.String,
    workspace: Schema.String,
    phases: Schema.Array(Schema.Struct({ id: PhaseId, title: Schema.String }))
  },
  PhaseStarted: { ...atPhase, title: Schema.String },
  StepStarted: {
    ...at,
    step: Step,
    attempt: Schema.Int,
    /** What led here: a name of the run machine's transitions, such as `gates-failed`. */
    cause: Schema.optionalKey(Schema.String),
    /** Of an author's step: continue or fresh, and why. */
    session: Schema.optionalKey(SessionDecision)
  },
  StepWaiting: { ...at, escalationId: EscalationId },
  StepResumed: { ...at, cause: Schema.Literals(["answer", "agent-working", "timer"]) },
  PhaseCompleted: {
    ...atPhase,
    commit: Schema.optionalKey(Schema.String),
    by: Schema.Literals(["review", "override"]),
    /** Who overrode and why. */
    who: Schema.optionalKey(Schema.String),
    guidance: Schema.optionalKey(Schema.String)
  },
  RunPaused: at,
  RunResumed: at,
  RunCompleted: at,
  RunFailed: { ...at, reason: Schema.String },
  RunAborted: { ...at, reason: Schema.String },
  CheckpointReached: { ...at, task: Schema.String, type: CheckpointType },
  CheckpointResolved: { ...at, resolution: Schema.String }
} as const

const sessionManager = {
  SessionCreated: { ...atSession, role: Role, runtime: RuntimeName, runtimeSessionId: Schema.String },
  SessionReused: { ...atSession, runtimeSessionId: Schema.String, reason: Schema.String },
  SessionReplaced: { ...atSession, old: Schema.String, new: Schema.String, reason: Schema.String },
  SessionPaused: atSession,
  SessionExpired: atSession,
  SessionCompleted: atSession,
  SessionAborted: { ...atSession, reason: Schema.String },
  /** It cannot go on, by the action that was configured for what befell it. */
  SessionFailed: { ...atSession, reason: Schema.String },
  SessionArchived: {
    ...atSession,
    /** The transcript's name in the object store. */
    object: Schema.optionalKey(Schema.String),
    messages: Schema.optionalKey(Schema.Int)
  },
  /** What the session-manager did by itself about an agent that was idle, gone, asking or failing. */
  ActionTaken: {
    ...atSession,
    trigger: Schema.Literals(["idle", "gone", "prompt", "error"]),
    action: Schema.Literals(["nudge", "report", "continue", "approve", "reject"]),
    /** The kind of the error, or what was asked. */
    about: Schema.optionalKey(Schema.String),
    /** Which attempt of this action, from 1. */
    attempt: Schema.Int
  },
  AgentWorking: { ...atSession, cause: Schema.Literals(["turn", "human", "agent"]), evidence: Schema.String },
  AgentIdle: atSession,
  AgentPrompting: {
    ...atSession,
    promptId: Schema.String,
    kind: Schema.Literals(["permission", "question"]),
    text: Schema.String,
    options: Schema.Array(Schema.Struct({ name: Schema.String, label: Schema.String }))
  },
  AgentFailed: {
    ...atSession,
    kind: Schema.Literals(["unauthorized", "out_of_credits", "rate_limited", "no_internet", "other"]),
    message: Schema.String
  },
  AgentGone: atSession,
  TurnStarted: atTurn,
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
    tokens: Tokens,
    cost: Schema.Finite,
    /** Milliseconds. */
    duration: Schema.Finite,
    attempts: Schema.Int,
    context: Schema.optionalKey(ContextFill),
    /** The last lines that the agent wrote, for a human. */
    lastLines: Schema.optionalKey(Schema.String)
  },
  TurnFailed: {
    ...atTurn,
    kind: FailureKind,
    message: Schema.String,
    sessionUsable: Schema.Boolean,
    tokens: Tokens,
    cost: Schema.Finite,
    duration: Schema.Finite,
    attempts: Schema.Int,
    lastLines: Schema.optionalKey(Schema.String)
  }
} as const

const reviewer = {
  ReviewStarted: { ...atPhase, sessionReused: Schema.Boolean, cycle: Schema.Int, commit: Schema.String },
  VerdictReached: { ...atPhase, verdict: Verdict, commit: Schema.String, cycle: Schema.Int },
  ReviewFailed: { ...atPhase, reason: Schema.String, kind: FailureKind, cycle: Schema.Int }
} as const

const gate = {
  EscalationRaised: {
    ...at,
    escalationId: EscalationId,
    origin: EscalationOrigin,
    reason: Schema.String,
    options: Schema.Array(EscalationOption),
    items: Schema.optionalKey(Schema.Array(Item)),
    evidence: Evidence
  },
  EscalationAnswered: {
    ...at,
    escalationId: EscalationId,
    choice: Schema.String,
    guidance: Schema.optionalKey(Schema.String),
    by: Schema.String,
    via: Schema.String
  },
  EscalationWithdrawn: {
    ...at,
    escalationId: EscalationId,
    reason: Schema.Literals(["agent-working", "superseded", "run-ended"])
  },
  /** Still open. Only channels that call for attention care; the question is unchanged. */
  EscalationReminded: {
    ...at,
    escalationId: EscalationId,
    /** ISO 8601: when the question was raised. */
    openSince: Schema.String,
    /** Which reminder this is, from 1. */
    count: Schema.Int
  }
} as const

/** The checkpoint's task that the commands verify; absent: they are the phase's own gates. */
const checkpoint = Schema.optionalKey(Schema.String)

/** The newest commit that HEAD shares with the base of the work, where HEAD does not lead to that base any more. */
const rewrittenBase = Schema.optionalKey(Schema.String)

const workspace = {
  WorkspacePrepared: {
    ...at,
    host: Host,
    /** Absolute path of the working tree. */
    directory: Schema.String,
    head: Schema.String,
    branch: Schema.optionalKey(Schema.String)
  },
  WorkspaceRefused: {
    ...at,
    kind: Schema.Literals(["not-a-repository", "dirty-tree", "in-use", "outside", "post-create", "other"]),
    reason: Schema.String
  },
  QualityPassed: { ...atPhase, attempt: Schema.Int, results: Schema.Array(GateResult), checkpoint },
  QualityFailed: { ...atPhase, attempt: Schema.Int, results: Schema.Array(GateResult), checkpoint },
  CommitVerified: { ...atPhase, commit: Schema.String, diffStat: Schema.optionalKey(Schema.String) },
  CommitRejected: {
    ...atPhase,
    commit: Schema.String,
    reason: Schema.Literals(["missing", "not-a-commit", "unreachable", "not-new", "empty", "dirty-tree"]),
    detail: Schema.String,
    base: rewrittenBase
  },
  PhaseFinished: {
    ...atPhase,
    head: Schema.String,
    /** The commit of the review file, if it was dirty. */
    commit: Schema.optionalKey(Schema.String),
    /** The plan, read again. */
    plan: Schema.String,
    /** Of the commits that were asked for, as far as they are there. */
    subjects: Schema.optionalKey(Schema.Array(CommitSubject))
  },
  PhaseBlocked: {
    ...atPhase,
    dirty: Schema.Array(Schema.String),
    /** HEAD, where it holds more than the approved commit; `dirty` is empty then. */
    head: Schema.optionalKey(Schema.String)
  },
  ContinuationVerified: { ...atPhase, base: rewrittenBase },
  ContinuationRejected: {
    ...atPhase,
    missingCommits: Schema.Array(Schema.String),
    missingFiles: Schema.Array(Schema.String),
    /** The repository is a shallow clone: what is missing may lie beyond its edge. */
    shallow: Schema.optionalKey(Schema.Boolean),
    base: rewrittenBase
  },
  ContinuationStateWritten: {
    ...atPhase,
    path: Schema.String,
    /** Names exactly what was written. */
    digest: Schema.optionalKey(Schema.String),
    /** The file that was there was refused, and why; it is written again from the journal. */
    replaced: Schema.optionalKey(StateFileProblem)
  },
  SummaryWritten: { ...at, path: Schema.String },
  WorkspaceReleased: at,
  /** Something the workspace was asked for broke (disk full, git missing, …). */
  WorkspaceFailed: { ...at, operation: Schema.String, reason: Schema.String }
} as const

const anyService = {
  /** Names the turn, session, phase or question that the command named, so that it is told from a later command's. */
  CommandRefused: {
    ...at,
    escalationId: Schema.optionalKey(EscalationId),
    command: Schema.String,
    reason: Schema.String
  }
} as const

export const OrchestratorEvent = Schema.TaggedUnion({ ...orchestrator, ...anyService })
export const SessionEvent = Schema.TaggedUnion({ ...sessionManager, ...anyService })
export const ReviewEvent = Schema.TaggedUnion({ ...reviewer, ...anyService })
export const GateEvent = Schema.TaggedUnion({ ...gate, ...anyService })
export const WorkspaceEvent = Schema.TaggedUnion({ ...workspace, ...anyService })

/** Every public event, whichever service publishes it. */
export const PublicEvent = Schema.TaggedUnion({
  ...orchestrator,
  ...sessionManager,
  ...reviewer,
  ...gate,
  ...workspace,
  ...anyService
})
export type PublicEvent = typeof PublicEvent.Type
export type PublicEventType = PublicEvent["_tag"]
