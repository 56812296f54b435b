/** Commands: imperative, to one actor. Their subject's key is the actor's id (protocol: Messages, Commands). */
import { Effect, Schema, SchemaTransformation } from "effect"
import { anyHost, EscalationId, Host, PhaseId, RunId, SessionId, TurnId } from "./ids.ts"
import {
  CheckpointReport,
  CompletedTask,
  EscalationOption,
  EscalationOrigin,
  Evidence,
  Item,
  PermissionMode,
  place,
  ReportForm,
  Role,
  RuntimeName,
  SessionPrompts,
  Step,
  TurnLimits
} from "./model.ts"
import { RunOptions } from "./options.ts"

const host = Host.pipe(Schema.withDecodingDefaultKey(Effect.succeed(anyHost)))
/** Absolute path of the working tree on the host; empty: where the host's agent server works. */
const directory = Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed("")))

/** Key: run id. */
export const OrchestratorCommand = Schema.TaggedUnion({
  StartRun: {
    runId: RunId,
    /** The plan's text. */
    plan: Schema.String,
    /** Relative to the workspace's root. */
    planPath: Schema.String,
    /** Absolute path of the git repository's root on the host. */
    workspace: Schema.String,
    options: RunOptions.pipe(Schema.withDecodingDefaultKey(Effect.succeed({})))
  },
  AnswerReceived: {
    runId: RunId,
    escalationId: EscalationId,
    choice: Schema.String,
    guidance: Schema.optionalKey(Schema.String),
    by: Schema.String,
    via: Schema.String
  },
  PauseRun: { runId: RunId, now: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false))) },
  ResumeRun: { runId: RunId },
  AbortRun: { runId: RunId, reason: Schema.String }
})
export type OrchestratorCommand = typeof OrchestratorCommand.Type

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

/** Key: session id. */
export const SessionCommand = Schema.TaggedUnion({
  StartTurn: {
    turnId: TurnId,
    runId: RunId,
    phase: Schema.optionalKey(PhaseId),
    step: Schema.optionalKey(Step),
    role: Role,
    session: SessionChoice,
    /** An existing session that is missing or empty: fail the turn, or go on in a fresh session with `freshPrompt`. */
    onMissing: Schema.Literals(["fail", "fresh"]).pipe(Schema.withDecodingDefaultKey(Effect.succeed("fail" as const))),
    runtime: RuntimeName,
    model: Schema.optionalKey(Schema.String),
    directory,
    host,
    permissions: PermissionMode.pipe(Schema.withDecodingDefaultKey(Effect.succeed("ask" as const))),
    title: Schema.optionalKey(Schema.String),
    prompt: Schema.String,
    /** The whole prompt for a fresh session, when `prompt` only makes sense in the old one. */
    freshPrompt: Schema.optionalKey(Schema.String),
    report: ReportForm,
    prompts: Schema.optionalKey(SessionPrompts),
    limits: TurnLimits.pipe(Schema.withDecodingDefaultKey(Effect.succeed({}))),
    /** Why an existing session is used again; shown in SessionReused. */
    reason: Schema.optionalKey(Schema.String)
  },
  ContinueSession: {
    turnId: TurnId,
    sessionId: SessionId,
    guidance: Schema.optionalKey(Schema.String),
    phase: Schema.optionalKey(PhaseId),
    step: Schema.optionalKey(Step),
    onMissing: Schema.Literals(["fail", "fresh"]).pipe(Schema.withDecodingDefaultKey(Effect.succeed("fail" as const)))
  },
  /**
   * A standalone session: one that belongs to no run. Its events and questions carry the session's id as their run id,
   * and it answers for itself: done it is completed, else a human is asked.
   */
  StartSession: {
    sessionId: SessionId,
    prompt: Schema.String,
    runtime: RuntimeName,
    model: Schema.optionalKey(Schema.String),
    directory,
    host,
    permissions: PermissionMode.pipe(Schema.withDecodingDefaultKey(Effect.succeed("ask" as const))),
    prompts: Schema.optionalKey(SessionPrompts),
    /** `maxTokens` is the budget of the whole session here. */
    limits: TurnLimits.pipe(Schema.withDecodingDefaultKey(Effect.succeed({})))
  },
  AbortSession: { sessionId: SessionId, reason: Schema.String },
  ReplyToPrompt: { sessionId: SessionId, promptId: Schema.String, reply: Schema.String },
  /** The session's phase or run is done. */
  CompleteSession: { sessionId: SessionId },
  ExpireSession: { sessionId: SessionId }
})
export type SessionCommand = typeof SessionCommand.Type

/** Key: `reviewKey(runId, phase)`. */
export const ReviewCommand = Schema.TaggedUnion({
  RequestReview: {
    runId: RunId,
    phase: PhaseId,
    commit: Schema.String,
    base: Schema.String,
    reviewPath: Schema.String,
    planPath: Schema.String,
    cycle: Schema.Int,
    directory,
    host,
    runtime: RuntimeName.pipe(Schema.withDecodingDefaultKey(Effect.succeed("opencode" as const))),
    model: Schema.optionalKey(Schema.String),
    permissions: PermissionMode.pipe(Schema.withDecodingDefaultKey(Effect.succeed("ask" as const))),
    limits: TurnLimits.pipe(Schema.withDecodingDefaultKey(Effect.succeed({}))),
    /** What the author said of items it declined, if any. */
    notes: Schema.optionalKey(Schema.String),
    prompts: Schema.Record(Schema.String, Schema.String).pipe(Schema.withDecodingDefaultKey(Effect.succeed({})))
  },
  /** The phase is over or the run aborted: the reviewer's session is let go. */
  CloseReview: { runId: RunId, phase: PhaseId, aborted: Schema.Boolean, reason: Schema.String }
})
export type ReviewCommand = typeof ReviewCommand.Type

/** Key: escalation id. */
export const EscalationCommand = Schema.TaggedUnion({
  RaiseEscalation: {
    escalationId: EscalationId,
    runId: RunId,
    ...place,
    origin: EscalationOrigin,
    reason: Schema.String,
    options: Schema.Array(EscalationOption),
    items: Schema.optionalKey(Schema.Array(Item)),
    evidence: Evidence.pipe(Schema.withDecodingDefaultKey(Effect.succeed({})))
  },
  AnswerEscalation: {
    escalationId: EscalationId,
    choice: Schema.String,
    guidance: Schema.optionalKey(Schema.String),
    by: Schema.String,
    via: Schema.String,
    /** The commit that the answerer was shown. When given, an answer for any other commit is refused. */
    commit: Schema.optionalKey(Schema.String)
  },
  WithdrawEscalation: {
    escalationId: EscalationId,
    reason: Schema.Literals(["agent-working", "superseded", "run-ended"])
  }
})
export type EscalationCommand = typeof EscalationCommand.Type

/** Key: run id. Every command but the first is done on the host and in the directory that PrepareWorkspace found. */
export const WorkspaceCommand = Schema.TaggedUnion({
  PrepareWorkspace: {
    runId: RunId,
    planPath: Schema.String,
    workspace: Schema.String,
    worktree: Schema.Boolean,
    allowDirty: Schema.Boolean,
    branch: Schema.optionalKey(Schema.String),
    postCreate: Schema.Array(Schema.String),
    host
  },
  RunQualityGates: {
    runId: RunId,
    phase: PhaseId,
    attempt: Schema.Int,
    commands: Schema.Array(Schema.String),
    timeoutMs: Schema.Finite,
    /** The checkpoint's task that these commands verify; absent: they are the phase's own gates. */
    checkpoint: Schema.optionalKey(Schema.String)
  },
  VerifyCommit: {
    runId: RunId,
    phase: PhaseId,
    commit: Schema.String,
    base: Schema.String,
    reviewPath: Schema.optionalKey(Schema.String)
  },
  FinishPhase: {
    runId: RunId,
    phase: PhaseId,
    reviewPath: Schema.String,
    planPath: Schema.String,
    /** Commits whose subject lines the summary needs. */
    commits: Schema.optionalKey(Schema.Array(Schema.String)),
    /** The commit that was approved: the phase is not finished on a HEAD with anything else in it. Absent: any HEAD. */
    approved: Schema.optionalKey(Schema.String)
  },
  VerifyContinuation: {
    runId: RunId,
    phase: PhaseId,
    completedTasks: Schema.Array(CompletedTask),
    /** The newest verified commit of the phase: it must be there as those of the tasks. */
    verified: Schema.optionalKey(Schema.String),
    /** The commit that the phase began from. */
    base: Schema.optionalKey(Schema.String)
  },
  WriteContinuationState: {
    runId: RunId,
    phase: PhaseId,
    planId: Schema.String,
    slug: Schema.String,
    completedTasks: Schema.Array(CompletedTask),
    checkpoint: Schema.optionalKey(CheckpointReport),
    resolution: Schema.optionalKey(Schema.String),
    resumeAt: Schema.optionalKey(Schema.String),
    /** Digest of what was written last, as ContinuationStateWritten told it; absent: nothing was in this phase. */
    expected: Schema.optionalKey(Schema.String)
  },
  /** `phase`: the summary of that phase; absent: of the run. */
  WriteSummary: { runId: RunId, phase: Schema.optionalKey(PhaseId), path: Schema.String, text: Schema.String },
  ReleaseWorkspace: { runId: RunId, outcome: Schema.Literals(["completed", "failed", "aborted"]) }
})
export type WorkspaceCommand = typeof WorkspaceCommand.Type
