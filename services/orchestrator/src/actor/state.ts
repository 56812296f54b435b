/** The state of one run: plain JSON, a fold of its journal. */

import type { ReachedCheckpoint } from "@reprise/plan"
import type {
  CheckpointReport,
  CommitSubject,
  CompletedTask,
  ContextFill,
  EscalationId,
  GateResult,
  Host,
  Item,
  PhaseId,
  Role,
  RunId,
  RunStatus,
  SessionId,
  Step,
  Tokens,
  TurnId,
  WorkspaceCommand
} from "@reprise/protocol"
import type { AgentPrompt, OpenCheckpoint, Question } from "../question/question.ts"
import type { RunInput } from "./inputs.ts"
import type { Continuation, EventOf, PlannedPhase, Purpose, RunEvent } from "./journal.ts"

/** The one thing that a run waits for. An input that does not answer it never moves the machine. */
export type Pending =
  | { readonly _tag: "Nothing" }
  | { readonly _tag: "Workspace"; readonly command: WorkspaceCommand }
  | {
      readonly _tag: "Turn"
      readonly turnId: TurnId
      readonly sessionId: SessionId
      readonly purpose: Purpose
      readonly continued: boolean
      /** Its session was aborted to pause the run: the step begins anew. */
      readonly interrupted: boolean
    }
  | { readonly _tag: "Review"; readonly cycle: number; readonly commit: string }
  /** A human or the agent itself works in the session; its report is asked for once it is idle. */
  | { readonly _tag: "Agent"; readonly sessionId: SessionId }
  /** `under`: what goes on below a prompt of an agent. */
  | { readonly _tag: "Answer"; readonly question: Question; readonly under: Pending }

/** The phase's newest author session. `doubtful`: alive as far as is known, but its state is not. */
export interface Author {
  readonly sessionId: SessionId
  readonly state: "usable" | "doubtful" | "ended"
  /** Why it cannot be continued. */
  readonly why?: string | undefined
  /** When it was asked for. */
  readonly since?: string | undefined
  /** As the runtime told it last. */
  readonly context?: ContextFill | undefined
}

/** A checkpoint as it was reached and answered. */
export interface PhaseCheckpoint extends ReachedCheckpoint {
  readonly report: CheckpointReport
  /** What the human wrote besides, word for word. */
  readonly words?: string | undefined
}

/** What a run remembers of its current phase. Counters are of the phase. */
export interface PhaseRun {
  readonly id: PhaseId
  /** HEAD when it began. */
  readonly base: string
  /** The last commit that was verified. */
  readonly verified?: string | undefined
  readonly diffStat?: string | undefined
  readonly visits: Readonly<Partial<Record<Step, number>>>
  readonly visitsGranted: Readonly<Partial<Record<Step, number>>>
  readonly gateRuns: number
  readonly qualityRetries: number
  readonly gateResults: ReadonlyArray<GateResult>
  /** Reviews asked for. */
  readonly reviewCycles: number
  /** Verdicts reached: what the review limit counts. */
  readonly verdicts: number
  readonly reviewsGranted: number
  readonly items: ReadonlyArray<Item>
  /** Verdicts in a row that raised no fewer items than the one before. */
  readonly stalled: number
  /** What the author said of items it declined, since the last review. */
  readonly notes: ReadonlyArray<string>
  readonly dirty: ReadonlyArray<string>
  readonly autoRetries: ReadonlyArray<string>
  readonly author?: Author | undefined
  /** Every session of an author that was not ended yet. */
  readonly sessions: ReadonlyArray<SessionId>
  readonly completedTasks: ReadonlyArray<CompletedTask>
  readonly checkpoint?: OpenCheckpoint | undefined
  /** Every checkpoint of the phase, oldest first. */
  readonly checkpoints: ReadonlyArray<PhaseCheckpoint>
  readonly continuation?: Continuation | undefined
  readonly statePath?: string | undefined
  /** Of the state file as it was written last. */
  readonly stateDigest?: string | undefined
  /** Continued turns that failed. */
  readonly failedContinuations: number
  /** What was done otherwise than planned, in words. */
  readonly deviations: ReadonlyArray<string>
  readonly missing?: Pick<EventOf<"TasksMissing">, "missingCommits" | "missingFiles" | "base"> | undefined
  readonly continuations: number
  readonly continuationsGranted: number
  /** The author was told in this visit of the step: that its report breaks a rule; that its commit was rejected. */
  readonly told: { readonly report: boolean; readonly commit: boolean }
  readonly lastLines?: string | undefined
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
  /** Its summary was written, or could not be. */
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

export interface Usage {
  readonly tokens: Tokens
  readonly cost: number
  readonly turns: number
}

export interface PhaseUsage extends Pick<Usage, "tokens" | "cost"> {
  readonly phase: PhaseId
  readonly role: Role
}

export type Turn = Extract<Pending, { readonly _tag: "Turn" }>

export interface Run {
  readonly _tag: "Run"
  readonly runId: RunId
  readonly request: EventOf<"RunRequested">["request"]
  readonly status: RunStatus
  readonly planId: string
  readonly planTitle?: string | undefined
  /** The plan's text as it was read last. */
  readonly source: string
  readonly phases: ReadonlyArray<PlannedPhase>
  readonly outcomes: ReadonlyArray<PhaseOutcome>
  readonly host?: Host | undefined
  readonly directory?: string | undefined
  /** HEAD when the workspace was prepared, then when the last phase was finished. */
  readonly head?: string | undefined
  readonly phase?: PhaseRun | undefined
  readonly step?: Step | undefined
  readonly attempt?: number | undefined
  readonly pending: Pending
  /** Asked for while something is under way: in force once that has reported. */
  readonly pauseAsked: boolean
  readonly held?: RunInput | undefined
  /** Prompts of the agent that came while another was open. */
  readonly prompts: ReadonlyArray<AgentPrompt>
  /** Guidance of this phase, verbatim, and how many of it the author's session and the reviewer have been given. */
  readonly guidance: { readonly texts: ReadonlyArray<string>; readonly author: number; readonly reviewer: number }
  /** How many ids of each kind were given out. */
  readonly ids: { readonly sessions: number; readonly turns: number; readonly escalations: number }
  readonly steps: number
  readonly granted: { readonly steps: number; readonly tokens: number; readonly cost: number }
  readonly usage: { readonly author: Usage; readonly reviewer: Usage }
  readonly phaseUsage: ReadonlyArray<PhaseUsage>
  readonly counted: ReadonlyArray<TurnId>
  readonly savings: ReadonlyArray<Saving>
  /** Turns under way that go on in a session. */
  readonly reusing: ReadonlyArray<TurnId>
  /** Subject lines by whole hash. */
  readonly subjects: ReadonlyArray<CommitSubject>
  readonly sessionsCreated: number
  readonly sessionsReused: number
  readonly lastClosed?: { readonly escalationId: EscalationId; readonly how: string } | undefined
  readonly notices: ReadonlyArray<string>
  readonly reason?: string | undefined
  readonly startedAt: string
  readonly updatedAt: string
}

/** The run of an actor that was not started. */
export interface NoRun {
  readonly _tag: "NoRun"
}
export const noRun: NoRun = { _tag: "NoRun" }

export type RunState = NoRun | Run

/** How each journal event changes a run: one entry per event, so that a new event does not compile without one. */
export type Evolution = {
  readonly [Tag in RunEvent["_tag"]]: (run: Run, event: EventOf<Tag>) => Run
}

export const nothing: Pending = { _tag: "Nothing" }

/** What is under way; an agent's own question lies on top of it. */
export const underWay = (pending: Pending): Pending => (pending._tag === "Answer" ? pending.under : pending)

/** The run with its current phase changed; a run without a phase stays as it is. */
export const withPhase = (run: Run, change: (phase: PhaseRun) => PhaseRun): Run =>
  run.phase === undefined ? run : { ...run, phase: change(run.phase) }

/** The view shows the newest notices; the journal keeps them all. */
const maxNotices = 200

/** The run with one more line for a human. */
export const withNotice = (run: Run, notice: string): Run => ({
  ...run,
  notices: [...run.notices, notice].slice(-maxNotices)
})
