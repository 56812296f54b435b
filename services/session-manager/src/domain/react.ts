/** What a Session sends: work to its host, timers to itself, its public events to everybody. */
import { type Delivery, type Outgoing, publish, requestWork, send, setTimer } from "@reprise/actor"
import { transcriptOf } from "./archive.ts"
import type { EventOf, JournalEvent, SessionDetails } from "./events.ts"
import { holdOf } from "./holds.ts"
import type { SessionTimer, SessionWork } from "./messages.ts"
import type { Session } from "./Session.ts"
import { after, type SessionSettings } from "./settings.ts"

const work = (details: SessionDetails, task: SessionWork): Outgoing => requestWork(details.host, task)
const timer = (at: string, ms: number, command: SessionTimer): Outgoing => setTimer(after(at, ms), command)

const onRuntime = (details: SessionDetails, runtimeSessionId: string) => ({
  runtime: details.runtime,
  directory: details.directory,
  runtimeSessionId
})

const openSession = (session: Session, details: SessionDetails, turnId: EventOf<"SessionLost">["turnId"]): Outgoing =>
  work(details, {
    _tag: "OpenSession",
    turnId,
    runtime: details.runtime,
    directory: details.directory,
    title: details.title,
    permissions: details.permissions,
    ...(details.model === undefined ? {} : { model: details.model }),
    ...savedOf(session, details)
  })

/** What was said in the session that is replaced, unless a human wants a fresh start. */
const savedOf = ({ saved, turn }: Session, { sessionId }: SessionDetails) =>
  saved !== undefined &&
  turn?.lost !== undefined &&
  turn.request.reason !== "fix" &&
  saved.object === transcriptOf(sessionId, turn.lost.old)
    ? { transcript: saved.object }
    : {}

/** Of a session that the runtime ever knew. */
const saveTranscript = (session: Session, details: SessionDetails): ReadonlyArray<Outgoing> => {
  const { runtimeSessionId, status } = session
  if (runtimeSessionId === undefined) return []
  const object = transcriptOf(details.sessionId, runtimeSessionId)
  const stop = status === "aborted"
  return [work(details, { _tag: "SaveTranscript", ...onRuntime(details, runtimeSessionId), object, stop })]
}

const runPrompt = (session: Session, details: SessionDetails): ReadonlyArray<Outgoing> => {
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
      ...(details.phase === undefined ? {} : { phase: details.phase }),
      ...(details.step === undefined ? {} : { step: details.step }),
      ...(details.model === undefined ? {} : { model: details.model }),
      permissions: details.permissions,
      limits: details.limits,
      spent: turn.tokens,
      turnStartedAt: turn.startedAt,
      turnWaitedMs: turn.waitedMs + turn.humanMs
    })
  ]
}

/** To the prompt under the runtime's present id; none without an answer. */
const sendReply = (session: Session, details: SessionDetails, promptId: string): ReadonlyArray<Outgoing> => {
  const prompt = session.prompts.find((open) => open.promptId === promptId)
  if (prompt?.reply === undefined || session.runtimeSessionId === undefined) return []
  const { askedAs, kind, reply } = prompt
  return [
    work(details, {
      _tag: "SendReply",
      ...onRuntime(details, session.runtimeSessionId),
      promptId: askedAs,
      kind,
      reply
    })
  ]
}

/** The gate knows already of what it closed itself. */
const withdrawn = ({ escalationId, how }: EventOf<"QuestionClosed">): ReadonlyArray<Outgoing> =>
  how === "answered" || how === "withdrawn"
    ? []
    : [send("gate", escalationId, { _tag: "WithdrawEscalation", escalationId, reason: how })]

/** Timers start anew with every sign of use; the ones set before find another count and do nothing. */
const pauseLater = (session: Session, delivery: Delivery, settings: SessionSettings): ReadonlyArray<Outgoing> =>
  session.turn === undefined && (session.status === "active" || session.status === "created")
    ? [timer(delivery.now, settings.idleAfterMs, { _tag: "PauseIdle", activity: session.activity })]
    : []

export const react =
  (settings: SessionSettings) =>
  (session: Session, events: ReadonlyArray<JournalEvent>, delivery: Delivery): ReadonlyArray<Outgoing> => {
    const { details, runtimeSessionId } = session
    if (details === undefined) {
      return events.flatMap((event) =>
        event._tag === "TurnFailed" || event._tag === "CommandRefused" ? [publish(event)] : []
      )
    }
    const lost = events.some((event) => event._tag === "SessionLost")

    const sent = (event: JournalEvent): ReadonlyArray<Outgoing> => {
      switch (event._tag) {
        case "TurnRequested":
          if (event.begin === "open") return lost ? [] : [openSession(session, details, event.turn.turnId)]
          return runtimeSessionId === undefined
            ? []
            : [
                work(details, {
                  _tag: "InspectSession",
                  turnId: event.turn.turnId,
                  ...onRuntime(details, runtimeSessionId)
                })
              ]
        case "SessionLost":
          return [openSession(session, details, event.turnId)]
        case "PromptPlanned":
          return event.delayMs === undefined
            ? runPrompt(session, details)
            : [timer(event.at, event.delayMs, { _tag: "RetryPrompt", turnId: event.turnId, number: event.number })]
        case "PromptRetried":
          return runPrompt(session, details)
        case "TurnWaiting":
          return [timer(event.at, event.waitMs, { _tag: "RetryPrompt", turnId: event.turnId, number: event.number })]
        case "PromptDecided":
        case "PromptReplied":
        case "PromptAskedAgain":
          return sendReply(session, details, event.promptId)
        case "SessionOpened":
        case "SessionFound":
        case "PromptEnded":
        case "PromptClosed":
        case "ActivityNoted":
        case "ActionCounted":
        case "TranscriptSaved":
          return []
        case "QuestionAsked":
          return [send("gate", event.ask.escalationId, event.ask)]
        case "QuestionClosed":
          return withdrawn(event)
        case "TurnCompleted":
        case "TurnFailed":
        case "AgentIdle":
          return [publish(event), ...pauseLater(session, delivery, settings)]
        case "SessionPaused":
          return holdOf(session) !== undefined
            ? [publish(event), ...saveTranscript(session, details)]
            : [
                publish(event),
                ...saveTranscript(session, details),
                timer(delivery.now, settings.expireAfterMs, { _tag: "ExpireIdle", activity: session.activity })
              ]
        case "SessionAborted":
          return runtimeSessionId === undefined
            ? [publish(event)]
            : [
                publish(event),
                work(details, { _tag: "InterruptSession", ...onRuntime(details, runtimeSessionId) }),
                ...saveTranscript(session, details)
              ]
        case "SessionExpired":
        case "SessionCompleted":
        case "SessionFailed":
          return [publish(event), ...saveTranscript(session, details)]
        default:
          return [publish(event)]
      }
    }

    return events.flatMap(sent)
  }
