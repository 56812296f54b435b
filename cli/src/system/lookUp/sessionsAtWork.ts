/** Asking the watch over sessions who works in them: it has looked at each of them when it answers. */
import { ActorConfig, Broker } from "@reprise/actor"
import { type EscalationView, type Host, SessionsAtWork, subjects } from "@reprise/protocol"
import { Effect, Schedule, Schema } from "effect"
import { findSession } from "./lookUp.ts"

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(SessionsAtWork))

const sessionsAtWork = Effect.fnUntraced(function* (host: Host) {
  const broker = yield* Broker
  const { prefix } = yield* ActorConfig
  const answer = yield* broker.request(subjects(prefix).watch(host), "")
  return answer === undefined ? [] : (yield* decode(answer)).sessions
})

/** The open sessions that a question names. */
const namedBy = ({ evidence, sessionId }: EscalationView) =>
  [sessionId, evidence.sessionId, evidence.authorSessionId].filter((id) => id !== undefined)

/** Where nobody watches the sessions, nobody works in them. */
const isWorkedAt = (question: EscalationView) =>
  Effect.forEach(namedBy(question), (id) =>
    Effect.flatMap(findSession(id), ({ host }) => Effect.map(sessionsAtWork(host), (atWork) => atWork.includes(id)))
  ).pipe(
    Effect.map((found) => found.includes(true)),
    Effect.catch((error) => Effect.as(Effect.logInfo(`cannot tell who is at work: ${String(error)}`), false))
  )

/** Longer than it takes until the question of a session in which somebody works is withdrawn. */
const withdrawalMs = 60_000

/**
 * Waits as long as somebody works in a session that the question names: it is about to be withdrawn
 * (docs/design/sessions.md#auto-resume).
 */
export const untilNobodyWorks = (question: EscalationView) =>
  isWorkedAt(question).pipe(
    Effect.repeat({ while: (worked) => worked, schedule: Schedule.spaced("250 millis") }),
    Effect.timeoutOption(withdrawalMs),
    Effect.asVoid
  )
