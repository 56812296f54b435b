/**
 * What the orchestrator accepts, publishes and shows: runs, and which step comes next (docs/design/run-machine.md). The
 * codes of its refusals are at the end.
 */
import { Effect, Schema, Struct } from "effect"
import { AgentChoice, StepAgent } from "../agents.ts"
import { EscalationId, Host, PhaseId, RunId, SessionId, TurnId } from "../ids.ts"
import {
  CheckpointType,
  GitRemote,
  RefusedBySandbox,
  Role,
  RunStatus,
  RuntimeName,
  SessionDecision,
  Step,
  Usage,
  Words
} from "../model.ts"
import { RunLimits, RunOptions } from "../options.ts"
import { caused, contract, eventual } from "./Contract.ts"
import { at, atPhase, CommandRefused, standaloneTask } from "./fields.ts"

/** Key: run id. */
export const OrchestratorCommand = Schema.TaggedUnion({
  StartRun: {
    runId: RunId,
    /** The plan's text. */
    plan: Schema.String,
    /** Relative to the workspace's root. */
    planPath: Schema.String,
    /** Absolute path of the git repository's root on the host; left out where the code comes from a remote. */
    workspace: Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed(""))),
    remote: Schema.optionalKey(GitRemote),
    options: RunOptions.pipe(Schema.withDecodingDefaultKey(Effect.succeed({})))
  },
  /**
   * Sent by the session-manager for a standalone session, whose id is the run's id. Such a run publishes no events and has
   * no view: people see its session and its questions.
   */
  StartStandaloneRun: { runId: RunId, ...standaloneTask },
  AnswerReceived: {
    runId: RunId,
    escalationId: EscalationId,
    choice: Schema.String,
    guidance: Schema.optionalKey(Schema.String),
    /** Who takes over, as far as the answer names it. */
    runtime: Schema.optionalKey(RuntimeName),
    model: Schema.optionalKey(Schema.String),
    variant: Schema.optionalKey(Schema.String),
    by: Schema.String,
    via: Schema.String
  },
  PauseRun: { runId: RunId, now: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false))) },
  ResumeRun: { runId: RunId },
  /**
   * The model of a role, from its next turn on. A reviewer without a model of its own has the author's. Nothing happens when
   * it has this model already.
   */
  ChangeModel: { runId: RunId, role: Role, model: Schema.NonEmptyString },
  /**
   * The host of a run with a remote is gone for good: its phase begins again on another host, from what was pushed. `from`:
   * the host that is gone.
   */
  MoveRun: { runId: RunId, from: Host },
  AbortRun: { runId: RunId, reason: Schema.String }
})
export type OrchestratorCommand = typeof OrchestratorCommand.Type

export const orchestratorEvents = {
  RunStarted: {
    ...at,
    planPath: Schema.String,
    /** As in `StartRun`. */
    workspace: Schema.String,
    remote: Schema.optionalKey(GitRemote),
    phases: Schema.Array(Schema.Struct({ id: PhaseId, title: Schema.String }))
  },
  PhaseStarted: { ...atPhase, title: Schema.String },
  StepStarted: {
    ...at,
    step: Step,
    attempt: Schema.Int,
    /** What led to the step: the name of a transition of the run machine, such as `gates-failed`. */
    cause: Schema.optionalKey(Schema.String),
    /** In an author's step: whether it continues its session or a fresh author takes over, and why. */
    session: Schema.optionalKey(SessionDecision),
    /** In a step of an agent: who does it. Absent where all of the run's agents are the same, by its runtime and model. */
    agent: Schema.optionalKey(StepAgent)
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
  ModelChanged: { ...at, role: Role, model: Schema.String },
  /** From now on the phase's fresh authors are on this runtime, with this model (absent: the runtime chooses). */
  AuthorChanged: { ...atPhase, ...AgentChoice.fields, by: Schema.String },
  /**
   * `from`: the host that is gone, and what it had not pushed is lost with it; or, with the cause `drained`, the host that
   * takes no runs any more, and everything was pushed. `author`: the session that goes on on another host, where it is
   * told what was saved of its conversation.
   */
  RunMoved: {
    ...at,
    from: Host,
    cause: Schema.optionalKey(Schema.Literals(["gone", "drained"])),
    author: Schema.optionalKey(SessionId)
  },
  RunPaused: at,
  RunResumed: at,
  RunCompleted: at,
  RunFailed: { ...at, reason: Schema.String },
  RunAborted: { ...at, reason: Schema.String },
  CheckpointReached: { ...at, task: Schema.String, type: CheckpointType },
  CheckpointResolved: { ...at, resolution: Schema.String }
} as const
export const OrchestratorEvent = Schema.TaggedUnion({ ...orchestratorEvents, CommandRefused })

export const PhaseView = Schema.Struct({
  id: PhaseId,
  title: Schema.String,
  state: Schema.Literals(["pending", "running", "waiting", "completed", "overridden", "done-before"]),
  commit: Schema.optionalKey(Schema.String),
  reviewCycles: Schema.Int,
  qualityAttempts: Schema.Int,
  /** Who its author is now, where a human has chosen one for this phase. */
  author: Schema.optionalKey(AgentChoice),
  /** Who did its steps, in the order in which they began; each once. Absent where no step's event names its agent. */
  agents: Schema.optionalKey(Schema.Array(StepAgent)),
  /** How many fresh authors took over from the record. */
  continuations: Schema.optionalKey(Schema.Int)
})
export type PhaseView = typeof PhaseView.Type

/** What a running run waits for, and who shows it. */
export const AwaitedWork = Schema.TaggedUnion({
  /** The author's turn. */
  Turn: { turnId: TurnId, sessionId: SessionId },
  Review: { phase: PhaseId, cycle: Schema.Int },
  /** A command of the workspace, by its name. */
  Workspace: { command: Schema.String },
  /** An agent that works by itself, or for a human who has stepped in. */
  Agent: { sessionId: SessionId }
})
export type AwaitedWork = typeof AwaitedWork.Type

const RoleUsage = Schema.Struct({ ...Usage.fields, turns: Schema.Int })

/** What agents of a run were refused: each wish once, in the order in which it was refused first. */
export const Refusal = Schema.Struct({
  /** Absent: no phase had begun. */
  phase: Schema.optionalKey(PhaseId),
  role: Role,
  /** What the agent wanted to do. */
  text: Schema.String,
  /** By auto mode, a configured action or a rule: no human was asked. */
  unattended: Schema.Boolean,
  /** The rule that refused it. */
  rule: Schema.optionalKey(Schema.String),
  /** What the sandbox refused to a command. */
  sandbox: Schema.optionalKey(RefusedBySandbox),
  /** The quality gate whose command it was; its role is that of the author, as whose commands gates run. */
  gate: Schema.optionalKey(Schema.String),
  times: Schema.Int
})
export type Refusal = typeof Refusal.Type

const optionalModel = Schema.optionalKey(Schema.String)

export const RunView = Schema.Struct({
  runId: RunId,
  status: RunStatus,
  planPath: Schema.String,
  planTitle: Schema.optionalKey(Schema.String),
  /** As in `StartRun`: empty where the code comes from a remote. */
  workspace: Schema.String,
  remote: Schema.optionalKey(GitRemote),
  directory: Schema.optionalKey(Schema.String),
  branch: Schema.optionalKey(Schema.String),
  host: Schema.optionalKey(Host),
  /** Whether a process is there that does its work. Absent: the run has ended, or nobody could tell. */
  hosted: Schema.optionalKey(Schema.Boolean),
  phase: Schema.optionalKey(PhaseId),
  step: Schema.optionalKey(Step),
  attempt: Schema.optionalKey(Schema.Int),
  phases: Schema.Array(PhaseView),
  escalationId: Schema.optionalKey(EscalationId),
  /** Why the run waits, failed or was aborted. */
  reason: Schema.optionalKey(Schema.String),
  /** Every limit that was reached and every refusal, with its reason, newest last. */
  notices: Schema.Array(Schema.String),
  /** What humans and authors said for an agent, newest last, and the sessions that were given it. */
  ledger: Schema.Array(Schema.Struct({ ...Words.fields, givenTo: Schema.Array(SessionId) })).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed([]))
  ),
  refusals: Schema.Array(Refusal).pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
  authorSessionId: Schema.optionalKey(SessionId),
  turnId: Schema.optionalKey(TurnId),
  /** Absent unless the run is running. */
  waitsFor: Schema.optionalKey(AwaitedWork),
  /** Of each role, where one was named; otherwise the runtime chooses. */
  models: Schema.optionalKey(Schema.Struct({ author: optionalModel, reviewer: optionalModel })),
  auto: Schema.Boolean,
  /** Steps entered so far. */
  steps: Schema.optionalKey(Schema.Int),
  /** What the run was started with. */
  limits: Schema.optionalKey(RunLimits),
  sessionsCreated: Schema.Int,
  sessionsReused: Schema.Int,
  /** `fixer`: where another agent than the author mended something; it is not in the author's. */
  usage: Schema.Struct({ author: RoleUsage, reviewer: RoleUsage, fixer: Schema.optionalKey(RoleUsage) }),
  startedAt: Schema.String,
  updatedAt: Schema.String
})
export type RunView = typeof RunView.Type

/** A run as a line of a long list. A long reason is cut. */
export const RunLine = Schema.Struct(
  Struct.pick(RunView.fields, [
    "runId",
    "status",
    "host",
    "hosted",
    "waitsFor",
    "planPath",
    "phase",
    "step",
    "escalationId",
    "reason",
    "updatedAt"
  ])
)
export type RunLine = typeof RunLine.Type

export const orchestrator = contract({
  service: "orchestrator",
  actor: "run",
  key: RunId,
  keyField: "runId",
  commands: OrchestratorCommand,
  events: OrchestratorEvent,
  view: RunView,
  refusals: [
    "unreadable",
    "misaddressed",
    "not-found",
    "ended",
    "already-started",
    "not-from-gate",
    "question-closed",
    "already-paused",
    "pausing",
    "not-paused",
    "not-on-host",
    "no-remote"
  ],
  outcomes: {
    StartRun: caused("RunStarted", "RunFailed"),
    PauseRun: eventual("RunPaused"),
    ResumeRun: caused("RunResumed"),
    ChangeModel: caused("ModelChanged"),
    MoveRun: caused("RunMoved"),
    AbortRun: caused("RunAborted")
  }
})
