/** What a Session sends: work to its host, timers to itself, its public events to everybody. */
import { type Delivery, type Outgoing, publish, requestWork, setTimer } from "@reprise/actor"
import type { EventOf, JournalEvent, SessionDetails } from "./events.ts"
import { isHeld } from "./lifecycle.ts"
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

const openSession = (details: SessionDetails, turnId: EventOf<"SessionLost">["turnId"]): Outgoing =>
  work(details, {
    _tag: "OpenSession",
    turnId,
    runtime: details.runtime,
    directory: details.directory,
    title: details.title,
    permissions: details.permissions,
    ...(details.model === undefined ? {} : { model: details.model })
  })

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
      turnStartedAt: turn.startedAt
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

/** Timers start anew with every sign of use; the ones set before find another count and do nothing. */
const pauseLater = (session: Session, delivery: Delivery, settings: SessionSettings): ReadonlyArray<Outgoing> =>
  session.turn === undefined && (session.status === "active" || session.status === "created")
    ? [timer(delivery.now, settings.idleAfterMs, { _tag: "PauseIdle", activity: session.activity })]
    : []

export const react =
  (settings: SessionSettings) =>
  (session: Session, events: ReadonlyArray<JournalEvent>, delivery: Delivery): ReadonlyArray<Outgoing> => {
    const { details, runtimeSessionId } = session
    if (details === undefined) return events.flatMap((event) => (event._tag === "TurnFailed" ? [publish(event)] : []))
    const lost = events.some((event) => event._tag === "SessionLost")

    const sent = (event: JournalEvent): ReadonlyArray<Outgoing> => {
      switch (event._tag) {
        case "TurnRequested":
          if (event.begin === "open") return lost ? [] : [openSession(details, event.turn.turnId)]
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
          return [openSession(details, event.turnId)]
        case "PromptPlanned":
        case "PromptRetried":
          return runPrompt(session, details)
        case "TurnWaiting":
          return [timer(event.at, event.waitMs, { _tag: "RetryPrompt", turnId: event.turnId, number: event.number })]
        case "PromptReplied":
        case "PromptAskedAgain":
          return sendReply(session, details, event.promptId)
        case "SessionOpened":
        case "SessionFound":
        case "PromptEnded":
        case "PromptClosed":
        case "ActivityNoted":
          return []
        case "TurnCompleted":
        case "TurnFailed":
        case "AgentIdle":
          return [publish(event), ...pauseLater(session, delivery, settings)]
        case "SessionPaused":
          return isHeld(session)
            ? [publish(event)]
            : [
                publish(event),
                timer(delivery.now, settings.expireAfterMs, { _tag: "ExpireIdle", activity: session.activity })
              ]
        case "SessionAborted":
          return runtimeSessionId === undefined
            ? [publish(event)]
            : [publish(event), work(details, { _tag: "InterruptSession", ...onRuntime(details, runtimeSessionId) })]
        default:
          return [publish(event)]
      }
    }

    return events.flatMap(sent)
  }
