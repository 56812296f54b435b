/**
 * The journal of a run. An event that is public has its public shape and is published as it is; one named `…Asked`
 * holds the very command that is sent for it, so that a repeat sends the same words again.
 */

import {
  AuthorStatus,
  CheckpointType,
  CommitSubject,
  CompletedTask,
  ContextFill,
  EscalationCommand,
  EscalationId,
  FailureKind,
  GateResult,
  Host,
  OrchestratorCommand,
  OrchestratorEvent,
  PhaseId,
  ReviewCommand,
  Role,
  SessionCommand,
  SessionDecision,
  SessionId,
  Step,
  Tokens,
  TurnId,
  Verdict,
  WorkspaceCommand
} from "@reprise/protocol"
import { Schema } from "effect"
import { AgentPrompt, Limit, OpenCheckpoint, Question } from "../question/question.ts"
import { RunInput } from "./inputs.ts"

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
export const Purpose = Schema.Literals(["work", "continue", "commit-rejected", "report-correction", "report"])
export type Purpose = typeof Purpose.Type

/** Where a fresh author goes on once its predecessors' work is verified. */
export const Continuation = Schema.Struct({
  step: Step,
  cause: text,
  checkpoint: Schema.optionalKey(OpenCheckpoint),
  resolution: optionalText,
  /** What the human wrote besides, word for word. */
  words: optionalText,
  resumeAt: optionalText,
  /** What `resumeAt` was done by when a human did not pass it: it is done again once it names another commit. */
  failed: optionalText,
  /** Why a fresh author, where no human said so. */
  session: Schema.optionalKey(SessionDecision)
})
export type Continuation = typeof Continuation.Type

const { StartTurn, ContinueSession } = SessionCommand.cases

const intake = {
  /** What led to the events that follow in the same journal entry. */
  Happened: { input: text, id: text, at: text },
  RunRequested: {
    request: OrchestratorCommand.cases.StartRun,
    planId: text,
    planTitle: optionalText,
    phases: Schema.Array(PlannedPhase),
    at: text
  },
  WorkspaceTaken: { host: Host, directory: text, head: text, branch: optionalText },
  /** Something worth a line for a human: a limit met, a refusal, a replaced session. */
  Noted: { text },
  PauseAsked: { now: Schema.Boolean },
  /** An answer that came while the run is paused: acted upon when it is resumed. */
  InputHeld: { input: RunInput }
} as const

const asked = {
  WorkspaceAsked: { command: WorkspaceCommand },
  AuthorAsked: {
    sessionId: SessionId,
    purpose: Purpose,
    /** In a turn that continues a session after a question (or corrects one that does). */
    continued: Schema.Boolean,
    /** When, of a new session: its age is counted from here. */
    at: optionalText,
    command: Schema.Union([StartTurn, ContinueSession])
  },
  ReviewAsked: { command: ReviewCommand.cases.RequestReview },
  QuestionAsked: { question: Question },
  /** The same question with other words or options. */
  QuestionChanged: { question: Question },
  PromptReplied: { sessionId: SessionId, promptId: text, reply: text },
  SessionStopped: { sessionId: SessionId, reason: text },
  SessionReleased: { sessionId: SessionId },
  ReviewClosed: { phase: PhaseId, aborted: Schema.Boolean, reason: text }
} as const

const answered = {
  /** What a turn cost, whoever took it and however late it was. */
  TurnCounted: {
    turnId: TurnId,
    phase: Schema.optionalKey(PhaseId),
    role: Role,
    tokens: Tokens,
    cost: Schema.Finite
  },
  ReportReceived: {
    turnId: TurnId,
    status: AuthorStatus,
    lastLines: optionalText,
    /** Of a turn that continued a session after a question. */
    continued: Schema.optionalKey(Schema.Boolean),
    context: Schema.optionalKey(ContextFill)
  },
  TurnBroke: {
    turnId: TurnId,
    kind: FailureKind,
    message: text,
    /** Whether the session can be continued. */
    usable: Schema.Boolean,
    /** Of a turn that continued a session after a question. */
    continued: Schema.optionalKey(Schema.Boolean),
    lastLines: optionalText
  },
  CommitAccepted: { commit: text, diffStat: optionalText },
  CommitTurnedDown: { commit: text, reason: text, detail: text },
  GatesEnded: {
    passed: Schema.Boolean,
    results: Schema.Array(GateResult),
    /** The task that the commands verified; absent: they were the phase's own gates. */
    checkpoint: optionalText
  },
  VerdictAccepted: { verdict: Verdict, commit: text, cycle: Schema.Int },
  ReviewBroke: { cycle: Schema.Int, reason: text },
  /** The review file is committed and the tree clean (`dirty` empty), or not. */
  TreeChecked: {
    phase: PhaseId,
    head: optionalText,
    dirty: Schema.Array(text),
    subjects: Schema.optionalKey(Schema.Array(CommitSubject))
  },
  /** The summary of a completed phase is in its file, or could not be written (`path` absent). */
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
  /** The agent at work is idle again, or gone: it is no longer waited for. */
  AgentRested: { sessionId: SessionId },
  PromptSeen: { prompt: AgentPrompt },
  QuestionAnswered: {
    escalationId: EscalationId,
    choice: text,
    guidance: optionalText,
    by: text,
    via: text
  },
  QuestionWithdrawn: {
    escalationId: EscalationId,
    reason: EscalationCommand.cases.WithdrawEscalation.fields.reason,
    /** The gate withdrew it itself. */
    byGate: Schema.optionalKey(Schema.Boolean)
  },
  /** Kept until every author that needs it has read it. */
  GuidanceKept: { text },
  /** Below the newest verified commit (or, without one, the phase's base) the history is another: it is taken as it is. */
  HistoryAccepted: { base: text },
  LimitRaised: { limit: Limit, step: Step },
  AutoRetried: { reason: text }
} as const

const continuation = {
  CheckpointOpened: { checkpoint: OpenCheckpoint },
  ContinuationBegun: { continuation: Continuation },
  StateWritten: { path: text, digest: optionalText },
  /** `base`: the phase counts from here now, since the history below it was rewritten. */
  TasksVerified: { base: optionalText },
  /** `base`: the phase is to count from here if what is missing is done again. */
  TasksMissing: { missingCommits: Schema.Array(text), missingFiles: Schema.Array(text), base: optionalText },
  /** No longer counted as done: to be done again. */
  TasksDropped: { tasks: Schema.Array(CompletedTask) },
  ContinuationEnded: {}
} as const

const { CommandRefused: _, ...published } = OrchestratorEvent.cases
const shapes = Schema.TaggedUnion({ ...intake, ...asked, ...answered, ...continuation })

export const RunEvent = Schema.Union([shapes, ...Object.values(published)])
export type RunEvent = typeof RunEvent.Type

export type RunEvents = ReadonlyArray<RunEvent>
export type EventOf<Tag extends RunEvent["_tag"]> = Extract<RunEvent, { readonly _tag: Tag }>
