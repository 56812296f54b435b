/** Read models: what queries answer and `--json` prints. Rebuildable from the journals. */
import { Schema } from "effect"
import { EscalationId, Host, Key, PhaseId, RunId, SessionId, TurnId } from "./ids.ts"
import {
  EscalationOption,
  EscalationOrigin,
  Evidence,
  Item,
  PermissionMode,
  Role,
  RunStatus,
  RuntimeName,
  Step,
  Tokens,
  Verdict
} from "./model.ts"
import { RunLimits } from "./options.ts"

export const PhaseView = Schema.Struct({
  id: PhaseId,
  title: Schema.String,
  state: Schema.Literals(["pending", "running", "waiting", "completed", "overridden", "done-before"]),
  commit: Schema.optionalKey(Schema.String),
  reviewCycles: Schema.Int,
  qualityAttempts: Schema.Int,
  /** Fresh authors who went on from the record of what is done. */
  continuations: Schema.optionalKey(Schema.Int)
})
export type PhaseView = typeof PhaseView.Type

const Usage = Schema.Struct({ tokens: Tokens, cost: Schema.Finite, turns: Schema.Int })

export const RunView = Schema.Struct({
  runId: RunId,
  status: RunStatus,
  planPath: Schema.String,
  planTitle: Schema.optionalKey(Schema.String),
  workspace: Schema.String,
  directory: Schema.optionalKey(Schema.String),
  host: Schema.optionalKey(Host),
  phase: Schema.optionalKey(PhaseId),
  step: Schema.optionalKey(Step),
  attempt: Schema.optionalKey(Schema.Int),
  phases: Schema.Array(PhaseView),
  escalationId: Schema.optionalKey(EscalationId),
  /** Why the run waits, failed or was aborted. */
  reason: Schema.optionalKey(Schema.String),
  /** Every limit that was met and every refusal, newest last, with its reason. */
  notices: Schema.Array(Schema.String),
  authorSessionId: Schema.optionalKey(SessionId),
  turnId: Schema.optionalKey(TurnId),
  auto: Schema.Boolean,
  /** Steps entered so far. */
  steps: Schema.optionalKey(Schema.Int),
  /** What the run was started with. */
  limits: Schema.optionalKey(RunLimits),
  sessionsCreated: Schema.Int,
  sessionsReused: Schema.Int,
  usage: Schema.Struct({ author: Usage, reviewer: Usage }),
  startedAt: Schema.String,
  updatedAt: Schema.String
})
export type RunView = typeof RunView.Type

export const EscalationView = Schema.Struct({
  escalationId: EscalationId,
  runId: RunId,
  phase: Schema.optionalKey(PhaseId),
  step: Schema.optionalKey(Step),
  sessionId: Schema.optionalKey(SessionId),
  origin: EscalationOrigin,
  reason: Schema.String,
  options: Schema.Array(EscalationOption),
  items: Schema.optionalKey(Schema.Array(Item)),
  evidence: Evidence,
  raisedAt: Schema.String,
  state: Schema.Literals(["open", "answered", "withdrawn"]),
  /** How it was closed. */
  choice: Schema.optionalKey(Schema.String),
  guidance: Schema.optionalKey(Schema.String),
  by: Schema.optionalKey(Schema.String),
  via: Schema.optionalKey(Schema.String),
  withdrawnFor: Schema.optionalKey(Schema.String),
  closedAt: Schema.optionalKey(Schema.String)
})
export type EscalationView = typeof EscalationView.Type

export const SessionView = Schema.Struct({
  sessionId: SessionId,
  runId: RunId,
  role: Role,
  runtime: RuntimeName,
  runtimeSessionId: Schema.optionalKey(Schema.String),
  model: Schema.optionalKey(Schema.String),
  directory: Schema.String,
  host: Host,
  status: Schema.Literals(["requested", "created", "active", "paused", "expired", "completed", "aborted", "failed"]),
  phase: Schema.optionalKey(PhaseId),
  turnId: Schema.optionalKey(TurnId),
  /** The runtime's id of the newest prompt of ours: what follows another prompt is a human's doing. */
  lastPromptId: Schema.optionalKey(Schema.String),
  turns: Schema.Int,
  messages: Schema.Int,
  toolCalls: Schema.Int,
  tokens: Tokens,
  cost: Schema.Finite,
  createdAt: Schema.String,
  lastActivityAt: Schema.String,
  lastStopReason: Schema.optionalKey(Schema.String),
  permissions: Schema.optionalKey(PermissionMode),
  /** Of a standalone session: what it was started with. Absent: the session belongs to a run. */
  prompt: Schema.optionalKey(Schema.String),
  /** The open question of a standalone session. */
  escalationId: Schema.optionalKey(EscalationId),
  /** What keeps a paused session from expiring. */
  heldBy: Schema.optionalKey(Schema.Literals(["turn", "agent", "question", "phase"])),
  /** Name of the saved transcript in the object store, and when it was saved. */
  transcript: Schema.optionalKey(Schema.String),
  savedAt: Schema.optionalKey(Schema.String)
})
export type SessionView = typeof SessionView.Type

/** The reviews of one phase of a run. */
export const ReviewView = Schema.Struct({
  /** The run's id, `-p` and the phase, with `_` for `.`: the id that `show` takes. */
  reviewId: Key,
  runId: RunId,
  phase: PhaseId,
  /** `closed`: its session was let go, because the phase is over or a review failed. */
  status: Schema.Literals(["reviewing", "judged", "closed"]),
  /** Of the review that is under way, else of the newest verdict. */
  cycle: Schema.optionalKey(Schema.Int),
  commit: Schema.optionalKey(Schema.String),
  sessionId: Schema.optionalKey(SessionId),
  turnId: Schema.optionalKey(TurnId),
  /** The newest verdict. */
  verdict: Schema.optionalKey(Verdict),
  /** How many turns and sessions the phase's reviews took. */
  turns: Schema.Int,
  sessions: Schema.Int
})
export type ReviewView = typeof ReviewView.Type

export const WorkspaceView = Schema.Struct({
  runId: RunId,
  status: Schema.Literals(["preparing", "active", "released"]),
  host: Host,
  /** Absolute path of the repository that was asked for. */
  root: Schema.optionalKey(Schema.String),
  /** Absolute path of the working tree: the root, or a worktree of it. */
  directory: Schema.optionalKey(Schema.String),
  branch: Schema.optionalKey(Schema.String),
  /** Ids of requests: the first is being done, the others wait. */
  requests: Schema.Array(Schema.String),
  /** The request that is to be given up, if any. */
  cancelled: Schema.optionalKey(Schema.String)
})
export type WorkspaceView = typeof WorkspaceView.Type

/** The answer to a query on `<prefix>.api.<service>.<query>`. */
export const ApiError = Schema.Struct({ code: Schema.String, message: Schema.String, hint: Schema.String })
export type ApiError = typeof ApiError.Type
export const apiReply = <S extends Schema.Top>(data: S) =>
  Schema.Union([
    Schema.Struct({ ok: Schema.Literal(true), data }),
    Schema.Struct({ ok: Schema.Literal(false), error: ApiError })
  ])

/** Queries: `list` takes `{}`, `show` takes `{ id }`. */
export const views = {
  orchestrator: RunView,
  gate: EscalationView,
  "session-manager": SessionView,
  reviewer: ReviewView,
  workspace: WorkspaceView
} as const
