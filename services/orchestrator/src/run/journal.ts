/**
 * The journal of a run. Public events are journalled in their public shape and published unchanged; an event named
 * `…Asked` holds the command that is sent for it, so that a repeat sends exactly the same.
 */
import {
  AgentRole,
  AuthorStatus,
  AuthorTurnId,
  CheckpointType,
  CommitSubject,
  CompletedTask,
  ContextFill,
  EscalationId,
  FailureKind,
  GateResult,
  Host,
  OrchestratorCommand,
  OrchestratorEvent,
  PhaseId,
  RefusedBySandbox,
  ReviewCommand,
  Role,
  SessionCommand,
  SessionDecision,
  SessionId,
  Step,
  TurnId,
  Usage,
  Verdict,
  WithdrawalReason,
  Words,
  WorkspaceCommand
} from "@reprise/protocol"
import { Schema } from "effect"
import { RunInput } from "./inputs.ts"
import { AgentPrompt, Limit, OpenCheckpoint, Question } from "./question.ts"

const text = Schema.String
const optionalText = Schema.optionalKey(Schema.String)

/** A phase as the run knows it: what the plan said when it was read. */
export const PlannedPhase = Schema.Struct({
  id: PhaseId,
  title: text,
  /** Marked done when the run began. */
  done: Schema.Boolean,
  completionGate: optionalText,
  tasks: Schema.Array(Schema.Struct({ id: text, name: text, checkpoint: Schema.optionalKey(CheckpointType) }))
})
export type PlannedPhase = typeof PlannedPhase.Type

/** What an author's turn is for. All but `work` and `continue` are asked once within a step. */
export const Purpose = Schema.Literals([
  "work",
  "continue",
  "commit-rejected",
  "report-correction",
  "checkpoint-missed",
  "report"
])
export type Purpose = typeof Purpose.Type

/** Where a fresh author resumes once its predecessors' work is verified. */
export const Continuation = Schema.Struct({
  step: Step,
  cause: text,
  checkpoint: Schema.optionalKey(OpenCheckpoint),
  resolution: optionalText,
  resumeAt: optionalText,
  /** The commit of `resumeAt` that a human did not pass: the task is done again once it names another commit. */
  failed: optionalText,
  /** Why the author is a fresh one, where no human chose that. */
  session: Schema.optionalKey(SessionDecision)
})
export type Continuation = typeof Continuation.Type

const { StartTurn, ContinueSession } = SessionCommand.cases

/** A turn of the author, or of the fixer in the author's place. A reviewer's turn is no such turn. */
const AuthorTurn = Schema.Union([
  Schema.Struct({ ...StartTurn.fields, turnId: AuthorTurnId, role: Schema.Literal("author") }),
  Schema.Struct({ ...ContinueSession.fields, turnId: AuthorTurnId })
])

const intake = {
  /** What led to the events that follow in the same journal entry. */
  Happened: { input: text, id: text, at: text },
  RunRequested: {
    request: OrchestratorCommand.cases.StartRun,
    planId: text,
    planTitle: optionalText,
    phases: Schema.Array(PlannedPhase),
    /** The run of a standalone session; `request` is the same as a run of one phase. */
    standalone: Schema.optionalKey(OrchestratorCommand.cases.StartStandaloneRun),
    at: text
  },
  /** `head`: the commit from which the work is counted. */
  WorkspaceTaken: { host: Host, directory: text, head: text, branch: optionalText },
  /** A line for a human, such as a refusal or a replaced session. */
  Noted: { text },
  PauseAsked: { now: Schema.Boolean },
  /** The input that came while the run was paused: acted upon when it is resumed. */
  InputHeld: { input: RunInput }
} as const

/** Something is sent for each of these. */
const sent = {
  WorkspaceAsked: { command: WorkspaceCommand },
  AuthorAsked: {
    sessionId: SessionId,
    purpose: Purpose,
    /** The turn continues a session after a question, or corrects the report of such a turn. */
    continued: Schema.Boolean,
    /** When a new session was asked for: its age counts from here. */
    at: optionalText,
    command: AuthorTurn
  },
  ReviewAsked: { command: ReviewCommand.cases.RequestReview },
  QuestionAsked: { question: Question },
  /** The same question with other words or options. */
  QuestionChanged: { question: Question },
  QuestionWithdrawn: {
    escalationId: EscalationId,
    reason: WithdrawalReason,
    /** The gate withdrew it itself. */
    byGate: Schema.optionalKey(Schema.Boolean)
  },
  /** `message`: what the human said with the reply, for the agent. `unattended`: auto mode replies. */
  PromptReplied: {
    sessionId: SessionId,
    promptId: text,
    reply: text,
    message: optionalText,
    unattended: Schema.optionalKey(Schema.Boolean)
  },
  /** `onHost`: only while it is there. */
  SessionStopped: { sessionId: SessionId, reason: text, onHost: Schema.optionalKey(Host) },
  /** The turn is to end, and its session to stay usable. */
  TurnInterrupted: { sessionId: SessionId, turnId: AuthorTurnId, reason: text },
  SessionReleased: { sessionId: SessionId },
  /** A fresh author takes over: this session of the phase is not needed any more. */
  AuthorReplaced: { sessionId: SessionId },
  /** The review is to end, and its session to stay usable. */
  ReviewInterrupted: { phase: PhaseId, reason: text },
  ReviewClosed: { phase: PhaseId, aborted: Schema.Boolean, reason: text },
  /** Its session goes on on the run's next host. */
  ReviewMoved: { phase: PhaseId, from: Host }
} as const

const answered = {
  /** What a turn cost, also when the run no longer waits for it. */
  TurnCounted: {
    turnId: TurnId,
    phase: Schema.optionalKey(PhaseId),
    role: AgentRole,
    ...Usage.fields
  },
  /** What sessions used outside of turns, or after their turn had been reported. */
  UsageAdded: { phase: Schema.optionalKey(PhaseId), role: Role, ...Usage.fields },
  ReportReceived: {
    turnId: AuthorTurnId,
    status: AuthorStatus,
    lastLines: optionalText,
    /** Its tasks count as done once the workspace has verified them. */
    unverified: Schema.optionalKey(Schema.Boolean),
    /** The turn continued a session after a question. */
    continued: Schema.optionalKey(Schema.Boolean),
    context: Schema.optionalKey(ContextFill)
  },
  TurnBroke: {
    turnId: AuthorTurnId,
    kind: FailureKind,
    message: text,
    /** Whether the session can go on. `doubtful`: it may be alive, but its state is not known. */
    session: Schema.Literals(["usable", "doubtful", "ended"]),
    /** Its prompt did not reach the agent: what it said is to be said again. */
    unread: Schema.optionalKey(Schema.Boolean),
    /** The turn continued a session after a question. */
    continued: Schema.optionalKey(Schema.Boolean),
    lastLines: optionalText,
    context: Schema.optionalKey(ContextFill)
  },
  /** `notes`: as in `CommitVerified`. */
  CommitAccepted: { commit: text, diffStat: optionalText, notes: Schema.optionalKey(Schema.Array(Schema.String)) },
  CommitTurnedDown: { commit: text, reason: text, detail: text },
  GatesEnded: {
    passed: Schema.Boolean,
    results: Schema.Array(GateResult),
    /** The task that the commands verified; absent: they were the phase's own gates. */
    checkpoint: optionalText
  },
  VerdictAccepted: {
    verdict: Verdict,
    commit: text,
    cycle: Schema.Int,
    sessionId: Schema.optionalKey(SessionId),
    context: Schema.optionalKey(ContextFill),
    lastLines: optionalText
  },
  ReviewBroke: {
    cycle: Schema.Int,
    reason: text,
    /** The run itself had it interrupted. */
    interrupted: Schema.optionalKey(Schema.Boolean),
    /** The next review goes on in its session. */
    kept: Schema.optionalKey(Schema.Boolean)
  },
  /** The review file is committed and the tree clean (`dirty` empty), or not. */
  TreeChecked: {
    phase: PhaseId,
    head: optionalText,
    dirty: Schema.Array(text),
    subjects: Schema.optionalKey(Schema.Array(CommitSubject)),
    /** All of it was pushed, and the host takes no new runs: the next phase begins on another. */
    leaves: Schema.optionalKey(Schema.Boolean)
  },
  /** The summary of a completed phase is written, or could not be (`path` absent). */
  PhaseSummarised: { phase: PhaseId, path: optionalText },
  PlanTaken: { source: text, phases: Schema.Array(PlannedPhase), planTitle: optionalText },
  WorkspaceBroke: { operation: text, reason: text },
  SessionSeen: {
    kind: Schema.Literals(["created", "reused", "replaced"]),
    sessionId: SessionId,
    turnId: Schema.optionalKey(TurnId),
    reason: optionalText
  },
  SessionLost: { sessionId: SessionId, why: text },
  /** The agent of the waiting step works by itself, while the run is paused. */
  AgentTookOver: { sessionId: SessionId, step: Step },
  /** The agent that worked by itself is idle again, or gone. */
  AgentRested: { sessionId: SessionId },
  /** A human works in a session of the phase, or its agent by itself; `working` false: no longer. */
  WorkSeen: { sessionId: SessionId, working: Schema.Boolean },
  PromptSeen: { prompt: AgentPrompt },
  /** An agent or a quality gate was refused something. */
  RefusalSeen: {
    phase: Schema.optionalKey(PhaseId),
    role: Role,
    text,
    unattended: Schema.Boolean,
    rule: optionalText,
    sandbox: Schema.optionalKey(RefusedBySandbox),
    gate: optionalText
  },
  QuestionAnswered: {
    escalationId: EscalationId,
    choice: text,
    guidance: optionalText,
    by: text,
    via: text
  },
  /** The answer to a question that the run had withdrawn before: the run goes on, and keeps what was said. */
  AnswerOverruled: { escalationId: EscalationId, choice: text, by: text, via: text },
  /** An entry of the ledger. `givenTo`: a session that was told at once. */
  WordsKept: { words: Words, givenTo: Schema.optionalKey(SessionId) },
  /** A human accepted a rewritten history. `base`: the newest commit that it shares with the one that was verified. */
  HistoryAccepted: { base: text },
  LimitRaised: { limit: Limit, step: Step },
  AutoRetried: { reason: text }
} as const

const continuation = {
  /** It is opened once what its author claims is verified. */
  CheckpointClaimed: { checkpoint: OpenCheckpoint },
  /** What the author claims holds. */
  ClaimsAccepted: { tasks: Schema.Array(CompletedTask), diffStat: optionalText },
  CheckpointOpened: { checkpoint: OpenCheckpoint },
  /** Its agent works again. `resolution`: a human settled it in the author's session; absent: it is still unanswered. */
  CheckpointLeft: { resolution: optionalText },
  ContinuationBegun: { continuation: Continuation },
  StateWritten: { path: text, digest: optionalText },
  /** `base`: the phase counts from here now, since the history before it was rewritten. */
  TasksVerified: { base: optionalText },
  /** `base`: the phase will count from here if the missing work is done again. */
  TasksMissing: { missingCommits: Schema.Array(text), missingFiles: Schema.Array(text), base: optionalText },
  /** These tasks no longer count as done. */
  TasksDropped: { tasks: Schema.Array(CompletedTask) },
  ContinuationEnded: {}
} as const

const shapes = Schema.TaggedUnion({ ...intake, ...sent, ...answered, ...continuation })

export const RunEvent = Schema.Union([shapes, ...Object.values(OrchestratorEvent.cases)])
export type RunEvent = typeof RunEvent.Type

/** What is sent for these is a family's reaction. Public events are published as they are; the others concern the run alone. */
export type SentType = keyof typeof sent
export type PublicType = (typeof OrchestratorEvent)["Type"]["_tag"]
export type RunEvents = ReadonlyArray<RunEvent>
export type EventOf<Tag extends RunEvent["_tag"]> = Extract<RunEvent, { readonly _tag: Tag }>
