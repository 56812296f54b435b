/** The state of one run: plain JSON, folded from its journal. */
import type { ReachedCheckpoint } from "@reprise/plan"
import type {
  AgentChoice,
  AgentRole,
  AuthorTurnId,
  CheckpointReport,
  CommitSubject,
  CompletedTask,
  ContextFill,
  EscalationId,
  GateResult,
  Host,
  Item,
  PhaseId,
  Refusal,
  Role,
  RunId,
  RunStatus,
  SessionId,
  Step,
  StepAgent,
  TurnId,
  Usage,
  WorkspaceCommand
} from "@reprise/protocol"
import type { RunInput } from "./inputs.ts"
import type { Continuation, EventOf, PlannedPhase, Purpose } from "./journal.ts"
import type { Ledger } from "./ledger.ts"
import type { AgentPrompt, OpenCheckpoint, Question } from "./question.ts"

/** The one thing that a run waits for. An input that does not answer it never moves the run. */
export type Pending =
  | { readonly _tag: "Nothing" }
  | { readonly _tag: "Workspace"; readonly command: WorkspaceCommand }
  | {
      readonly _tag: "Turn"
      readonly turnId: AuthorTurnId
      readonly sessionId: SessionId
      readonly purpose: Purpose
      readonly continued: boolean
      /** It is interrupted to pause the run, which goes on in its session, or its session was aborted. */
      readonly interrupted: boolean
    }
  /** `said`: the id of the ledger's newest entry when the review was asked for. */
  | {
      readonly _tag: "Review"
      readonly cycle: number
      readonly commit: string
      readonly said: number
      /** It is interrupted to pause the run, which goes on in its session. */
      readonly interrupted?: true
    }
  /** The agent works by itself or for a human; its report is asked for once it is idle. */
  | { readonly _tag: "Agent"; readonly sessionId: SessionId }
  /** `under`: the turn or review that goes on while its agent asks something. */
  | { readonly _tag: "Answer"; readonly question: Question; readonly under: Pending }

/**
 * The phase's newest author session. `doubtful`: it may be alive, but its state is not known. `moved`: its host is gone,
 * and it is to go on on another one, told what was saved of its conversation.
 */
export interface Author {
  readonly sessionId: SessionId
  readonly state: "usable" | "doubtful" | "moved" | "ended"
  /** Why it cannot be continued. */
  readonly why?: string | undefined
  /** The host that is gone. */
  readonly movedFrom?: Host | undefined
  /** On which runtime it was begun, and with which model. */
  readonly agent?: AgentChoice | undefined
  /** When the session was asked for. */
  readonly since?: string | undefined
  /** As the runtime last reported it. */
  readonly context?: ContextFill | undefined
  /** When the agent became idle; unset if working or unknown. */
  readonly idleSince?: string | undefined
  /** What its agent wrote last, for a human. */
  readonly lastLines?: string | undefined
}

/** Whether somebody may work in its session. */
export const isOpen = (author: Author | undefined): author is Author =>
  author !== undefined && author.state !== "ended" && author.state !== "moved"

/** The phase's reviewer. `sessionId`: absent until its first verdict. */
export type Reviewer = Partial<Omit<Author, "state" | "why" | "movedFrom">>

/** Who a human has chosen for the fresh authors of a phase. */
interface ChosenAuthor extends AgentChoice {
  readonly by: string
}

/** A checkpoint that was reached, and its answer. */
export interface PhaseCheckpoint extends ReachedCheckpoint {
  readonly report: CheckpointReport
}

export interface Told {
  /** Its report breaks a rule. */
  readonly report: boolean
  /** Its commit, or what it claims at a checkpoint, was rejected. */
  readonly commit: boolean
  /** It has gone past a checkpoint. */
  readonly checkpoint: boolean
}
export const nothingTold: Told = { report: false, commit: false, checkpoint: false }

/** Of a phase: who does its steps, by the rules that have applied and by what humans chose. */
interface PhaseAgents {
  /** Who humans chose for its fresh authors, the newest last. */
  readonly authors?: ReadonlyArray<ChosenAuthor> | undefined
  /** The rules of its agents that have applied: of each role the last, by its place from 1. They hold until the phase ends. */
  readonly heldRules?: Readonly<Partial<Record<AgentRole, number>>> | undefined
  /** Models that a human changed in the phase, where the agent was not the run's usual one. They are of one runtime. */
  readonly changedModels?:
    | Readonly<Partial<Record<AgentRole, Required<Pick<AgentChoice, "runtime" | "model">>>>>
    | undefined
  /** Who did its steps so far, each once. */
  readonly agents?: ReadonlyArray<StepAgent> | undefined
  /** Whose step it is, where that is said. */
  readonly stepRole?: AgentRole | undefined
}

/** Of a phase: its author's work, sessions and turns. */
interface PhaseWork {
  /** The last commit that was verified. */
  readonly verified?: string | undefined
  readonly diffStat?: string | undefined
  /** What was found in its commits when they were verified, each once. */
  readonly remarks?: ReadonlyArray<string> | undefined
  readonly author?: Author | undefined
  /** Every author session of the phase that has not ended. */
  readonly sessions: ReadonlyArray<SessionId>
  /** Continued turns that failed. */
  readonly failedContinuations: number
  /** The newest report is of a turn that continued a session after a question, or of its correction. */
  readonly continued: boolean
  /** Deviations from the plan, in words. */
  readonly deviations: ReadonlyArray<string>
  /** What the author was told in this visit of the step. */
  readonly told: Told
}

/** Of a phase: its own quality gates. */
interface PhaseQuality {
  readonly gateRuns: number
  readonly qualityRetries: number
  readonly gateResults: ReadonlyArray<GateResult>
  /** Retries that failed: of its quality gates, or in auto mode. */
  readonly failedRetries?: number | undefined
}

/** Of a phase: its reviews. */
interface PhaseReview {
  /** Reviews asked for. */
  readonly reviewCycles: number
  /** Verdicts reached: what the review limit counts. */
  readonly verdicts: number
  readonly reviewsGranted: number
  readonly items: ReadonlyArray<Item>
  /** Verdicts in a row that raised no fewer items than the one before. */
  readonly stalled: number
  /** Reviews in a row that failed. */
  readonly brokenReviews: number
  /** Its reviewer's session, from the first review on; a failed review ends it. */
  readonly reviewer?: Reviewer | undefined
}

/** Of a phase: its completed tasks, its checkpoints, and hand-overs to a fresh author. */
interface PhaseRecord {
  readonly completedTasks: ReadonlyArray<CompletedTask>
  /** The checkpoint that is opened once what its author claims is verified. */
  readonly claimed?: OpenCheckpoint | undefined
  readonly checkpoint?: OpenCheckpoint | undefined
  /** Every checkpoint of the phase, oldest first. */
  readonly checkpoints: ReadonlyArray<PhaseCheckpoint>
  readonly continuation?: Continuation | undefined
  readonly statePath?: string | undefined
  /** The digest of the state file as it was last written. */
  readonly stateDigest?: string | undefined
  readonly missing?: Pick<EventOf<"TasksMissing">, "missingCommits" | "missingFiles" | "base"> | undefined
  readonly continuations: number
  readonly continuationsGranted: number
}

/** What a run remembers about its current phase. All counters start at 0 in each phase. */
export interface PhaseRun extends PhaseAgents, PhaseWork, PhaseQuality, PhaseReview, PhaseRecord {
  readonly id: PhaseId
  /** The commit that its work must come after: HEAD when it began, or what a rewritten history left of that. */
  readonly base: string
  /** HEAD when it began, where `base` is another commit by now. */
  readonly began?: string | undefined
  readonly visits: Readonly<Partial<Record<Step, number>>>
  readonly visitsGranted: Readonly<Partial<Record<Step, number>>>
  readonly dirty: ReadonlyArray<string>
  readonly autoRetries: ReadonlyArray<string>
}

/** How a phase ended, for the view and the summary. */
export interface PhaseOutcome {
  readonly id: PhaseId
  readonly by: "review" | "override"
  readonly commit?: string | undefined
  readonly who?: string | undefined
  readonly guidance?: string | undefined
  readonly notes: ReadonlyArray<Item>
  readonly tasks: ReadonlyArray<CompletedTask>
  readonly checkpoints: ReadonlyArray<PhaseCheckpoint>
  readonly reviewCycles: number
  readonly gateRuns: number
  readonly deviations: ReadonlyArray<string>
  readonly authors?: ReadonlyArray<ChosenAuthor> | undefined
  readonly agents?: ReadonlyArray<StepAgent> | undefined
  /** Whether writing its summary was tried. */
  readonly summarised: boolean
  /** Path of its summary. */
  readonly summary?: string | undefined
}

/** What continuation saved in a phase, as the runtime counted it. */
export interface Saving {
  readonly phase: PhaseId
  readonly continuedTurns: number
  readonly cachedTokens: number
  readonly unsentTokens: number
}

/** What a role has used, in how many turns. */
export interface RoleUsage extends Usage {
  readonly turns: number
}

export interface PhaseUsage extends Pick<Usage, "tokens" | "cost"> {
  readonly phase: PhaseId
  readonly role: AgentRole
}

type PendingOf<Tag extends Pending["_tag"]> = Extract<Pending, { readonly _tag: Tag }>
export type Turn = PendingOf<"Turn">
export type Review = PendingOf<"Review">

export interface Run {
  readonly _tag: "Run"
  readonly runId: RunId
  readonly request: EventOf<"RunRequested">["request"]
  /** What a standalone session is to do; absent: the run carries out a plan. */
  readonly standalone?: EventOf<"RunRequested">["standalone"] | undefined
  readonly status: RunStatus
  /** Chosen since the run was started, by role. */
  readonly models?: Readonly<Partial<Record<Role, string>>> | undefined
  readonly planId: string
  readonly planTitle?: string | undefined
  /** The plan's text as it was read last. */
  readonly source: string
  readonly phases: ReadonlyArray<PlannedPhase>
  readonly outcomes: ReadonlyArray<PhaseOutcome>
  readonly host?: Host | undefined
  readonly directory?: string | undefined
  /** Absent while HEAD is on no branch. */
  readonly branch?: string | undefined
  /** HEAD when the workspace was prepared, then when the last phase was finished. */
  readonly head?: string | undefined
  /** Its host is drained and has pushed everything: the next phase begins on another. */
  readonly leaves?: true | undefined
  /** The author and the reviewer of a phase whose host is gone, until the phase begins again. */
  readonly moved?: ({ readonly phase: PhaseId } & Pick<PhaseRun, "author" | "reviewer">) | undefined
  readonly phase?: PhaseRun | undefined
  readonly step?: Step | undefined
  readonly attempt?: number | undefined
  readonly pending: Pending
  /** A pause was asked for, and begins once the work under way has reported. */
  readonly pauseAsked: boolean
  readonly held?: RunInput | undefined
  /** Prompts of the agent that came while another was open. */
  readonly prompts: ReadonlyArray<AgentPrompt>
  /** The sessions in which a human works, or the agent by itself, outside of turns. */
  readonly working: ReadonlyArray<SessionId>
  /** What humans and authors said for somebody, and who was given it. */
  readonly ledger: Ledger
  /** How many ids of each kind are in use. */
  readonly ids: { readonly sessions: number; readonly turns: number; readonly escalations: number }
  readonly steps: number
  readonly granted: { readonly steps: number; readonly tokens: number; readonly cost: number }
  readonly usage: { readonly author: RoleUsage; readonly reviewer: RoleUsage; readonly fixer?: RoleUsage }
  readonly phaseUsage: ReadonlyArray<PhaseUsage>
  readonly counted: ReadonlyArray<TurnId>
  readonly savings: ReadonlyArray<Saving>
  /** Turns under way that continue a session. */
  readonly reusing: ReadonlyArray<TurnId>
  /** Subject lines of commits, by full hash. */
  readonly subjects: ReadonlyArray<CommitSubject>
  readonly sessionsCreated: number
  readonly sessionsReused: number
  /** Questions that the run withdrew itself: an answer to one may be on its way. */
  readonly withdrawn: ReadonlyArray<EscalationId>
  readonly lastClosed?: { readonly escalationId: EscalationId; readonly how: string } | undefined
  readonly refusals: ReadonlyArray<Refusal>
  readonly notices: ReadonlyArray<string>
  readonly reason?: string | undefined
  readonly startedAt: string
  readonly updatedAt: string
}

/** The state of an actor whose run was not started. */
interface NoRun {
  readonly _tag: "NoRun"
}
export const noRun: NoRun = { _tag: "NoRun" }

export type RunState = NoRun | Run

export const nothing: Pending = { _tag: "Nothing" }

/** The work under way, also while its agent asks something. */
export const underWay = (pending: Pending): Pending => (pending._tag === "Answer" ? pending.under : pending)

const isPending = <Tag extends Pending["_tag"]>(pending: Pending, tag: Tag): pending is PendingOf<Tag> =>
  pending._tag === tag

/** The work under way, if it is of this kind. */
export const workOf = <Tag extends Pending["_tag"]>(run: Run, tag: Tag): PendingOf<Tag> | undefined => {
  const work = underWay(run.pending)
  return isPending(work, tag) ? work : undefined
}

/** The run with its current phase changed; a run without a phase stays as it is. */
export const withPhase = (run: Run, change: (phase: PhaseRun) => PhaseRun): Run =>
  run.phase === undefined ? run : { ...run, phase: change(run.phase) }

/** The run without somebody's work in this session: it has ended, or a turn takes over. */
export const withoutWork = (run: Run, sessionId: SessionId): Run =>
  run.working.includes(sessionId) ? { ...run, working: run.working.filter((id) => id !== sessionId) } : run

/** The view shows the newest notices; the journal keeps them all. */
const maxNotices = 200

/** The run with one more line for a human. */
export const withNotice = (run: Run, notice: string): Run => ({
  ...run,
  notices: [...run.notices, notice].slice(-maxNotices)
})

/** By id, in the order in which they were first reported; a later report of a task replaces an earlier one. */
export const mergeTasks = (known: ReadonlyArray<CompletedTask>, more: ReadonlyArray<CompletedTask>) => [
  ...new Map([...known, ...more].map((task) => [task.id, task])).values()
]
