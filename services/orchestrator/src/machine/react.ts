/** What a run sends: each command as it was journalled, each public event as it is. */
import { type Outgoing, publish, send } from "@reprise/actor"
import {
  type CommandOf,
  type IdOf,
  type OrchestratorEvent,
  type RunId,
  reviewKey,
  type ServiceName,
  SessionId,
  to
} from "@reprise/protocol"
import type { EventOf, RunEvent, RunEvents } from "../run/journal.ts"
import type { Run, RunState } from "../run/state.ts"

type Reaction<Tag extends RunEvent["_tag"]> = (runId: RunId, event: EventOf<Tag>) => ReadonlyArray<Outgoing>

/** Sends a command exactly as it was journalled. */
const asJournalled = <Service extends ServiceName>(
  service: Service,
  key: IdOf<Service>,
  command: CommandOf<Service>
): Outgoing => send({ service, key, command })

const raise = (_runId: RunId, { question }: EventOf<"QuestionAsked"> | EventOf<"QuestionChanged">) => [
  asJournalled("gate", question.ask.escalationId, question.ask)
]

const published = (_runId: RunId, event: (typeof OrchestratorEvent)["Type"]) => [publish(event)]

/** Events that concern the run alone. */
const silent = (): ReadonlyArray<Outgoing> => []

export type Reactions = { readonly [Tag in RunEvent["_tag"]]: Reaction<Tag> }

export const reactions: Reactions = {
  WorkspaceAsked: (runId, { command }) => [asJournalled("workspace", runId, command)],
  AuthorAsked: (_runId, { command, sessionId }) => [asJournalled("session-manager", sessionId, command)],
  ReviewAsked: (runId, { command }) => [asJournalled("reviewer", reviewKey(runId, command.phase), command)],
  ReviewInterrupted: (runId, { phase, reason }) => [
    send(to.reviewer(reviewKey(runId, phase)).InterruptReview({ runId, phase, reason }))
  ],
  ReviewClosed: (runId, { aborted, phase, reason }) => [
    send(to.reviewer(reviewKey(runId, phase)).CloseReview({ runId, phase, aborted, reason }))
  ],
  ReviewMoved: (runId, { from, phase }) => [
    send(to.reviewer(reviewKey(runId, phase)).MoveReview({ runId, phase, from }))
  ],
  QuestionAsked: raise,
  QuestionChanged: raise,
  QuestionWithdrawn: (_runId, { byGate, escalationId, reason }) =>
    byGate === true ? [] : [send(to.gate(escalationId).WithdrawEscalation({ reason }))],
  PromptReplied: (_runId, { message, promptId, reply, sessionId, unattended }) => [
    send(
      to.sessionManager(sessionId).ReplyToPrompt({
        promptId,
        reply,
        ...(message === undefined ? {} : { message }),
        ...(unattended === undefined ? {} : { unattended })
      })
    )
  ],
  SessionStopped: (_runId, { _tag, sessionId, ...how }) => [send(to.sessionManager(sessionId).AbortSession(how))],
  TurnInterrupted: (_runId, { reason, sessionId, turnId }) => [
    send(to.sessionManager(sessionId).InterruptTurn({ turnId, reason }))
  ],
  SessionReleased: (_runId, { sessionId }) => [send(to.sessionManager(sessionId).CompleteSession())],
  AuthorReplaced: (_runId, { sessionId }) => [send(to.sessionManager(sessionId).ReleaseSession())],
  RunStarted: published,
  PhaseStarted: published,
  StepStarted: published,
  StepWaiting: published,
  StepResumed: published,
  PhaseCompleted: published,
  ModelChanged: published,
  RunMoved: published,
  AuthorChanged: published,
  RunPaused: published,
  RunResumed: published,
  RunCompleted: published,
  RunFailed: published,
  RunAborted: published,
  CheckpointReached: published,
  CheckpointResolved: published,
  CommandRefused: published,
  Happened: silent,
  RunRequested: silent,
  WorkspaceTaken: silent,
  Noted: silent,
  PauseAsked: silent,
  InputHeld: silent,
  TurnCounted: silent,
  UsageAdded: silent,
  ReportReceived: silent,
  TurnBroke: silent,
  CommitAccepted: silent,
  CommitTurnedDown: silent,
  GatesEnded: silent,
  VerdictAccepted: silent,
  ReviewBroke: silent,
  TreeChecked: silent,
  PhaseSummarised: silent,
  PlanTaken: silent,
  WorkspaceBroke: silent,
  SessionSeen: silent,
  SessionLost: silent,
  AgentTookOver: silent,
  AgentRested: silent,
  WorkSeen: silent,
  PromptSeen: silent,
  RefusalSeen: silent,
  QuestionAnswered: silent,
  AnswerOverruled: silent,
  GuidanceKept: silent,
  WordsKept: silent,
  HistoryAccepted: silent,
  LimitRaised: silent,
  AutoRetried: silent,
  CheckpointClaimed: silent,
  ClaimsAccepted: silent,
  CheckpointOpened: silent,
  CheckpointLeft: silent,
  ContinuationBegun: silent,
  StateWritten: silent,
  TasksVerified: silent,
  TasksMissing: silent,
  TasksDropped: silent,
  ContinuationEnded: silent
}

const reactTo = <Tag extends RunEvent["_tag"]>(runId: RunId, tag: Tag, event: EventOf<Tag>): ReadonlyArray<Outgoing> =>
  reactions[tag](runId, event)

/**
 * People see the session of a standalone run and its questions. Of the run itself they see only that it waits, and that
 * it goes on.
 */
const visible = ({ runId, standalone }: Run, message: Outgoing): ReadonlyArray<Outgoing> => {
  if (standalone === undefined || message._tag !== "PublishEvent") return [message]
  const { event } = message
  if (event._tag !== "StepWaiting" && event._tag !== "StepResumed") return []
  const { step: _, ...told } = event
  return [publish({ ...told, sessionId: SessionId.make(runId) })]
}

export const react = (state: RunState, events: RunEvents): ReadonlyArray<Outgoing> =>
  state._tag === "NoRun"
    ? []
    : events.flatMap((event) => reactTo(state.runId, event._tag, event)).flatMap((message) => visible(state, message))
