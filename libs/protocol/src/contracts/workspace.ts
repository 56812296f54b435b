/**
 * What the workspace accepts, publishes and shows: git, quality gates and files of one run (docs/design/workspace.md).
 * The codes of its refusals are at the end.
 */
import { Schema } from "effect"
import { Host, PhaseId, RunId } from "../ids.ts"
import { CheckpointReport, CommitSubject, CompletedTask, GateResult, GitRemote, StateFileProblem } from "../model.ts"
import { contract } from "./Contract.ts"
import { at, atPhase, CommandRefused, host } from "./fields.ts"

/** Names of variables that the commands see beside the usual ones. Absent: none. */
const environment = Schema.optionalKey(Schema.Array(Schema.String))

/** Key: run id. Every other command is carried out on the host and in the directory of PrepareWorkspace. */
export const WorkspaceCommand = Schema.TaggedUnion({
  PrepareWorkspace: {
    runId: RunId,
    planPath: Schema.String,
    workspace: Schema.String,
    /** The code comes from here, and the run gets a worktree of this host's clone of it. */
    remote: Schema.optionalKey(GitRemote),
    worktree: Schema.Boolean,
    allowDirty: Schema.Boolean,
    branch: Schema.optionalKey(Schema.String),
    postCreate: Schema.Array(Schema.String),
    environment,
    host,
    /** The host on which the run was prepared before is gone, or drained, and what was asked of it is not wanted any more. */
    leaving: Schema.optionalKey(Host),
    /** That host is drained, not gone: it frees what it has of the run once another host has it. */
    drained: Schema.optionalKey(Schema.Boolean)
  },
  RunQualityGates: {
    runId: RunId,
    phase: PhaseId,
    attempt: Schema.Int,
    commands: Schema.Array(Schema.String),
    timeoutMs: Schema.Finite,
    environment,
    /** The checkpoint's task that these commands verify; absent: they are the phase's own gates. */
    checkpoint: Schema.optionalKey(Schema.String)
  },
  VerifyCommit: {
    runId: RunId,
    phase: PhaseId,
    commit: Schema.String,
    /** The commit that this work must be newer than: the one that was verified last, or `phaseBase`. */
    base: Schema.String,
    /** The commit that the phase began from, with which `diffStat` compares; absent: `base`. */
    phaseBase: Schema.optionalKey(Schema.String),
    reviewPath: Schema.optionalKey(Schema.String)
  },
  /** What an author says it has done, before a human is asked at a checkpoint. */
  VerifyClaims: {
    runId: RunId,
    phase: PhaseId,
    /** The author's newest commit, if it named one. */
    commit: Schema.optionalKey(Schema.String),
    tasks: Schema.Array(CompletedTask),
    /** Tasks of the phase that counted as done before: none of the claimed ones may share a commit with them. */
    earlier: Schema.Array(CompletedTask),
    /** The commit that this work must be newer than. */
    base: Schema.String,
    /** The commit that the phase began from, with which `diffStat` compares; absent: `base`. */
    phaseBase: Schema.optionalKey(Schema.String),
    reviewPath: Schema.optionalKey(Schema.String)
  },
  FinishPhase: {
    runId: RunId,
    phase: PhaseId,
    reviewPath: Schema.String,
    planPath: Schema.String,
    /** Commits whose subject lines the summary needs. */
    commits: Schema.optionalKey(Schema.Array(Schema.String)),
    /** The approved commit: a HEAD that holds anything else does not finish the phase. Absent: any HEAD does. */
    approved: Schema.optionalKey(Schema.String)
  },
  VerifyContinuation: {
    runId: RunId,
    phase: PhaseId,
    completedTasks: Schema.Array(CompletedTask),
    /** The newest verified commit of the phase: it must exist, as those of the tasks must. */
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
    /** The digest of the last ContinuationStateWritten; absent: nothing was written in this phase. */
    expected: Schema.optionalKey(Schema.String)
  },
  /** `phase`: the summary of that phase; absent: of the run. */
  WriteSummary: { runId: RunId, phase: Schema.optionalKey(PhaseId), path: Schema.String, text: Schema.String },
  ReleaseWorkspace: { runId: RunId, outcome: Schema.Literals(["completed", "failed", "aborted"]) }
})
export type WorkspaceCommand = typeof WorkspaceCommand.Type

/** The checkpoint's task that the commands verify; absent: they are the phase's own gates. */
const checkpoint = Schema.optionalKey(Schema.String)

/** What a person should know, such as branches that moved meanwhile. */
const notes = Schema.optionalKey(Schema.Array(Schema.String))

/** The newest commit that HEAD shares with the base of the work; present if HEAD no longer contains that base. */
const rewrittenBase = Schema.optionalKey(Schema.String)

export const workspaceEvents = {
  WorkspacePrepared: {
    ...at,
    host: Host,
    /** Absolute path of the working tree. */
    directory: Schema.String,
    head: Schema.String,
    /** Where the branch has commits that no run has finished: the one before them, from which the first phase is counted. */
    base: Schema.optionalKey(Schema.String),
    branch: Schema.optionalKey(Schema.String)
  },
  WorkspaceRefused: {
    ...at,
    kind: Schema.Literals(["not-a-repository", "dirty-tree", "in-use", "outside", "post-create", "other"]),
    reason: Schema.String
  },
  QualityPassed: { ...atPhase, attempt: Schema.Int, results: Schema.Array(GateResult), checkpoint, notes },
  QualityFailed: { ...atPhase, attempt: Schema.Int, results: Schema.Array(GateResult), checkpoint, notes },
  CommitVerified: {
    ...atPhase,
    commit: Schema.String,
    diffStat: Schema.optionalKey(Schema.String),
    notes
  },
  CommitRejected: {
    ...atPhase,
    commit: Schema.String,
    reason: Schema.Literals(["missing", "not-a-commit", "unreachable", "not-new", "empty", "dirty-tree"]),
    detail: Schema.String,
    base: rewrittenBase
  },
  /** The claimed tasks with whole hashes, and with the files that their commits changed. */
  ClaimsVerified: { ...atPhase, tasks: Schema.Array(CompletedTask), diffStat: Schema.optionalKey(Schema.String) },
  ClaimsRejected: {
    ...atPhase,
    commit: Schema.String,
    /** The task that was claimed with this commit; absent: it is the author's newest commit. */
    task: Schema.optionalKey(Schema.String),
    /** `shared`: it is the commit of another task, too. */
    reason: Schema.Literals(["missing", "not-a-commit", "unreachable", "not-new", "empty", "dirty-tree", "shared"]),
    detail: Schema.String,
    base: rewrittenBase
  },
  PhaseFinished: {
    ...atPhase,
    head: Schema.String,
    /** The commit of the review file, if it was dirty. */
    commit: Schema.optionalKey(Schema.String),
    /** The branch of the run's remote that has this head now. */
    pushed: Schema.optionalKey(Schema.String),
    /** The host takes no new runs: a run whose work was pushed goes on elsewhere. */
    drained: Schema.optionalKey(Schema.Boolean),
    /** The plan, read again. */
    plan: Schema.String,
    /** The subject lines of those requested commits that exist. */
    subjects: Schema.optionalKey(Schema.Array(CommitSubject))
  },
  PhaseBlocked: {
    ...atPhase,
    dirty: Schema.Array(Schema.String),
    /** HEAD, where it is neither the approved commit nor that and the review file; `dirty` is empty then. */
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
  /** A request failed because something broke (disk full, git missing, …). */
  WorkspaceFailed: { ...at, operation: Schema.String, reason: Schema.String }
} as const
export const WorkspaceEvent = Schema.TaggedUnion({ ...workspaceEvents, CommandRefused })

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
  /** The request that is being cancelled, if any. */
  cancelled: Schema.optionalKey(Schema.String)
})
export type WorkspaceView = typeof WorkspaceView.Type

export const workspace = contract({
  service: "workspace",
  actor: "workspace",
  key: RunId,
  keyField: "runId",
  commands: WorkspaceCommand,
  events: WorkspaceEvent,
  view: WorkspaceView,
  refusals: ["unreadable", "misaddressed", "not-prepared", "released", "stale"],
  outcomes: {}
})
