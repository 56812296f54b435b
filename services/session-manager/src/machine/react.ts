/** What a session sends: work to its host, timers to itself, its public events to everybody. */
import { type Outgoing as AnyOutgoing, type Delivery, publish, requestWork, send, setTimer } from "@reprise/actor"
import { defined, isStandalone, type RuntimeId, subtractUsage, type TurnId, to } from "@reprise/protocol"
import { Duration } from "effect"
import { transcriptOf } from "../lifecycle/transcript.ts"
import type { SessionTimer } from "../session/inputs.ts"
import type { EventOf, JournalEvent, SessionDetails } from "../session/journal.ts"
import { hasEnded, holdOf, type Session, savedOf } from "../session/state.ts"
import type { SessionWork } from "../session/work.ts"
import { after, type SessionSettings } from "../settings.ts"

type Outgoing = AnyOutgoing<SessionTimer, SessionWork>
type Sent = ReadonlyArray<Outgoing>

const work = (details: SessionDetails, task: SessionWork): Outgoing => requestWork(details.host, task)
const timer = (at: string, wait: Duration.Duration, command: SessionTimer): Outgoing =>
  setTimer(after(at, wait), command)

const retryLater = (
  { turn }: Session,
  { at, number, turnId }: EventOf<"PromptPrepared" | "TurnWaiting">,
  wait: Duration.Duration
): Outgoing =>
  timer(at, wait, { _tag: "RetryPrompt", turnId, number, ...(turn === undefined ? {} : { wait: turn.waits }) })

const onRuntime = ({ directory, runtime }: SessionDetails, runtimeSessionId: RuntimeId) => ({
  runtime,
  directory,
  runtimeSessionId
})

/** `lost`: the runtime session that it replaces. */
const openSession = (
  session: Session,
  details: SessionDetails,
  turnId: TurnId,
  lost?: EventOf<"SessionLost">
): Outgoing =>
  work(details, {
    _tag: "OpenSession",
    turnId,
    runtime: details.runtime,
    directory: details.directory,
    title: details.title,
    permissions: details.permissions,
    role: details.role,
    ...defined({ model: details.model }),
    ...earlierConversation(session, lost),
    ...uncommittedWork(details, lost)
  })

/** A fork that starts over begins where it began before. */
const earlierConversation = (session: Session, lost: EventOf<"SessionLost"> | undefined) => {
  const earlier = earlierTranscript(session, lost)
  return earlier.transcript !== undefined || session.fork === undefined ? earlier : { fork: session.fork }
}

/** What is uncommitted where a standalone session begins is the user's own. */
const uncommittedWork = (details: SessionDetails, lost: EventOf<"SessionLost"> | undefined) => {
  const { reviewPath, role } = details
  if (role !== "author" || (isStandalone(details) && lost === undefined)) return {}
  return { uncommitted: reviewPath === undefined ? {} : { reviewPath } }
}

/** The saved conversation of the session that is replaced, unless it starts over. */
const earlierTranscript = (
  session: Session,
  lost: EventOf<"SessionLost"> | undefined
): { readonly transcript?: string } => {
  const startsOver = session.turn?.request.fresh === true
  const saved = lost === undefined || startsOver ? undefined : savedOf(session, lost.old)
  return saved === undefined ? {} : { transcript: saved.object }
}

const inspectSession = ({ runtimeSessionId }: Session, details: SessionDetails, { turn }: EventOf<"TurnRequested">) =>
  runtimeSessionId === undefined
    ? []
    : [work(details, { _tag: "InspectSession", turnId: turn.turnId, ...onRuntime(details, runtimeSessionId) })]

const saving = (session: Session, details: SessionDetails, runtimeSessionId: RuntimeId) => {
  const saved = savedOf(session, runtimeSessionId)
  return {
    object: transcriptOf(details.sessionId, runtimeSessionId),
    ...(saved?.known === undefined ? {} : { saved: { object: saved.object, ...saved.known } })
  }
}

/** Nothing waits for it: what a crash prevents is saved by the same work again, or with the next turn. */
const saveNewMessages = (session: Session, details: SessionDetails): Sent => {
  const { runtimeSessionId } = session
  if (runtimeSessionId === undefined) return []
  return [
    work(details, {
      _tag: "SaveNewMessages",
      ...onRuntime(details, runtimeSessionId),
      ...saving(session, details, runtimeSessionId)
    })
  ]
}

const archive = (session: Session, details: SessionDetails): Sent => {
  const { counted, inherited, runtimeSessionId, status, used } = session
  if (runtimeSessionId === undefined) return []
  const usedEarlier = subtractUsage(used, subtractUsage(counted, inherited))
  return [
    work(details, {
      _tag: "SaveTranscript",
      ...onRuntime(details, runtimeSessionId),
      ...{ object: transcriptOf(details.sessionId, runtimeSessionId), stop: status === "aborted", usedEarlier },
      ...(session.fork === undefined ? {} : { inherited })
    })
  ]
}

const interruptSession = ({ runtimeSessionId, turn }: Session, details: SessionDetails, turnId?: TurnId): Sent =>
  runtimeSessionId === undefined
    ? []
    : [
        work(details, {
          _tag: "InterruptSession",
          ...onRuntime(details, runtimeSessionId),
          ...defined({ turnId }),
          ...(turnId === undefined || turn?.prompt === undefined ? {} : { text: turn.prompt.text })
        })
      ]

const runPrompt = (session: Session, details: SessionDetails): Sent => {
  const { runtimeSessionId, turn } = session
  if (turn?.prompt === undefined || runtimeSessionId === undefined) return []
  const { identity, kind, number, text, turnId } = turn.prompt
  return [
    work(details, {
      _tag: "RunPrompt",
      ...{ turnId, number, kind, identity, text },
      ...onRuntime(details, runtimeSessionId),
      runId: details.runId,
      role: details.role,
      ...defined({
        phase: details.phase,
        step: details.step,
        model: details.model,
        variant: details.variant,
        instructionsFrom: details.instructionsFrom
      }),
      permissions: details.permissions,
      limits: details.limits,
      usedBefore: turn.used,
      counted: session.counted,
      turnStartedAt: turn.startedAt,
      turnWaitedMs: turn.waitedMs + turn.humanMs,
      saving: {
        ...saving(session, details, runtimeSessionId),
        since: savedOf(session, runtimeSessionId)?.at ?? turn.startedAt
      }
    })
  ]
}

/** The reply goes to the question under the runtime's present id; nothing is sent before there is a reply. */
const sendReply = (session: Session, details: SessionDetails, promptId: string): Sent => {
  const question = session.agentQuestions.find((open) => open.promptId === promptId)
  if (question?.reply === undefined || session.runtimeSessionId === undefined) return []
  const { kind, message, reply, runtimePromptId, text } = question
  const runtime = onRuntime(details, session.runtimeSessionId)
  return [
    work(details, {
      _tag: "SendReply",
      ...runtime,
      promptId: runtimePromptId,
      kind,
      text,
      reply,
      ...defined({ message })
    })
  ]
}

const startRun = ({ runId }: SessionDetails, { command }: EventOf<"StandaloneRequested">): Outgoing => {
  const { _tag, fork, sessionId, ...task } = command
  return send(to.orchestrator(runId).StartStandaloneRun(task))
}

/** Set again after every use: the use count makes the timers stale that were set before. */
const pauseLater = (session: Session, delivery: Delivery, settings: SessionSettings): Sent =>
  session.turn === undefined && (session.status === "active" || session.status === "created")
    ? [timer(delivery.now, settings.idleAfter, { _tag: "PauseIdle", useCount: session.useCount })]
    : []

/** Set when the session is paused, and again when what held it in its pause is gone. */
const expireLater = (session: Session, delivery: Delivery, settings: SessionSettings): Sent => {
  if (session.status !== "paused") return []
  const command = { _tag: "ExpireIdle", useCount: session.useCount } as const
  if (holdOf(session) === undefined) return [timer(delivery.now, settings.expireAfter, command)]
  return Duration.isZero(settings.expireHeldAfter)
    ? []
    : [timer(delivery.now, settings.expireHeldAfter, { ...command, held: true })]
}

/** A turn that its runtime could not go on with may end the session: then it is archived. */
const afterTurn = (session: Session, details: SessionDetails, events: ReadonlyArray<JournalEvent>): Sent => {
  if (!hasEnded(session)) return session.turn === undefined ? saveNewMessages(session, details) : []
  const isArchived = session.archived || events.some(({ _tag }) => _tag === "SessionFailed")
  return session.status === "failed" && !isArchived ? archive(session, details) : []
}

export const react =
  (settings: SessionSettings) =>
  (session: Session, events: ReadonlyArray<JournalEvent>, delivery: Delivery): Sent => {
    const { details } = session
    return details === undefined
      ? events.flatMap(sentWithoutSession)
      : events.flatMap((event) => sent(settings, session, details, events, event, delivery))
  }

/** A turn that was refused may be all that a session ever had. */
const sentWithoutSession = (event: JournalEvent): Sent =>
  event._tag === "TurnFailed" || event._tag === "CommandRefused" ? [publish(event)] : []

const sent = (
  settings: SessionSettings,
  session: Session,
  details: SessionDetails,
  events: ReadonlyArray<JournalEvent>,
  event: JournalEvent,
  delivery: Delivery
): Sent => {
  switch (event._tag) {
    case "TurnRequested":
      if (event.begin === "inspect") return inspectSession(session, details, event)
      // The loss of the session before it opens the new one.
      return events.some(({ _tag }) => _tag === "SessionLost") ? [] : [openSession(session, details, event.turn.turnId)]
    case "SessionLost":
      return [openSession(session, details, event.turnId, event)]
    case "PromptPrepared":
      return event.delayMs === undefined
        ? runPrompt(session, details)
        : [retryLater(session, event, Duration.millis(event.delayMs))]
    case "PromptRetried":
      return runPrompt(session, details)
    case "TurnWaiting":
      return [retryLater(session, event, Duration.millis(event.waitMs))]
    case "HandedBack":
      return [work(details, { _tag: "HandBack" })]
    case "TurnInterrupting":
      return interruptSession(session, details, event.turnId)
    case "AgentQuestionDecided":
    case "AgentQuestionAnswered":
    case "AgentQuestionRepeated":
      return sendReply(session, details, event.promptId)
    case "StandaloneRequested":
      return [startRun(details, event)]
    case "TurnCompleted":
    case "TurnFailed":
    case "AgentIdle":
      return [publish(event), ...afterTurn(session, details, events), ...pauseLater(session, delivery, settings)]
    case "SessionPaused":
      return [publish(event), ...saveNewMessages(session, details), ...expireLater(session, delivery, settings)]
    case "SessionAborted":
      return [publish(event), ...interruptSession(session, details), ...archive(session, details)]
    case "SessionExpired":
    case "SessionCompleted":
    case "SessionFailed":
      return [publish(event), ...archive(session, details)]
    case "SessionReleased":
    case "QuestionClosed":
    case "AgentQuestionClosed":
      return expireLater(session, delivery, settings)
    case "ActionTaken":
    case "AgentFailed":
    case "AgentGone":
    case "AgentPrompting":
    case "AgentWorking":
    case "CommandRefused":
    case "PermissionRefused":
    case "SessionArchived":
    case "SessionCreated":
    case "SessionReplaced":
    case "SessionReused":
    case "TurnRetried":
    case "TurnStarted":
    case "UsageCounted":
      return [publish(event)]
    case "QuestionRaised":
    case "QuestionsAskedEarlier":
    case "SessionOpened":
    case "SessionFound":
    case "PromptTakenUp":
    case "PromptEnded":
    case "ActivityNoted":
    case "ActionCounted":
    case "TranscriptSaved":
    case "InterruptedEarly":
      return []
  }
}
