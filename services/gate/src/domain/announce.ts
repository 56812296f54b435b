/** What the world is told of an escalation: public events, the answer to the orchestrator, reminders. */
import { type Outgoing, publish, send, setTimer } from "@reprise/actor"
import { isStandalone, type OrchestratorCommand, type PublicEvent, SessionId } from "@reprise/protocol"
import type { EscalationState } from "./Escalation.ts"
import type { EscalationEvent, Question, Remind } from "./messages.ts"

const minute = 60_000
/** Reminders: the first after ten minutes, then hourly (gate: it may remind). */
const reminderAfter = (count: number) => (count === 1 ? 10 * minute : 60 * minute)
const later = (iso: string, ms: number) => new Date(Date.parse(iso) + ms).toISOString()

const nextReminder = (question: Question, count: number, now: string): Outgoing => {
  const command: Remind = { _tag: "Remind", escalationId: question.escalationId, count }
  return setTimer(later(now, reminderAfter(count)), command)
}

/** Where a question belongs, as every public event about it says. */
export const placeOf = (question: Question) => ({
  runId: question.runId,
  escalationId: question.escalationId,
  ...(question.phase === undefined ? {} : { phase: question.phase }),
  ...(question.step === undefined ? {} : { step: question.step }),
  ...(question.sessionId === undefined ? {} : { sessionId: question.sessionId })
})

/** The session that a standalone question is about, also where it cannot be continued: its session-manager listens. */
const addressOf = (question: Question) => ({
  ...placeOf(question),
  ...(isStandalone(question) ? { sessionId: SessionId.make(question.runId) } : {})
})

const answered = (
  question: Question,
  event: Extract<EscalationEvent, { readonly _tag: "Answered" }>
): ReadonlyArray<Outgoing> => {
  const choice = {
    choice: event.choice,
    by: event.by,
    via: event.via,
    ...(event.guidance === undefined ? {} : { guidance: event.guidance })
  }
  const { escalationId, runId } = question
  const received: OrchestratorCommand = { _tag: "AnswerReceived", runId, escalationId, ...choice }
  const told = publish({ _tag: "EscalationAnswered", ...addressOf(question), ...choice })
  // A standalone session belongs to no run: its session-manager listens to the event.
  if (isStandalone(question)) return [told]
  return [told, send("orchestrator", question.runId, received)]
}

const outgoing = (state: EscalationState, event: EscalationEvent): ReadonlyArray<Outgoing> => {
  switch (event._tag) {
    // An update is published under the same id: readers replace what they show.
    case "Raised":
    case "Updated": {
      const raised: PublicEvent = { ...event.question, _tag: "EscalationRaised" }
      return event._tag === "Updated" ? [publish(raised)] : [publish(raised), nextReminder(event.question, 1, event.at)]
    }
    case "Reminded":
      return state.status === "open"
        ? [
            publish({
              _tag: "EscalationReminded",
              ...placeOf(state.question),
              openSince: state.raisedAt,
              count: event.count
            }),
            nextReminder(state.question, event.count + 1, event.at)
          ]
        : []
    case "Answered":
      return state.status === "answered" ? answered(state.question, event) : []
    case "Withdrawn":
      return state.status === "withdrawn" && state.question !== undefined
        ? [publish({ _tag: "EscalationWithdrawn", ...addressOf(state.question), reason: event.reason })]
        : []
  }
}

export const react = (state: EscalationState, events: ReadonlyArray<EscalationEvent>): ReadonlyArray<Outgoing> =>
  events.flatMap((event) => outgoing(state, event))
