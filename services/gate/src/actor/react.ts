/** What an Escalation actor sends: public events, the answer to the orchestrator, its own reminders, and notifications. */
import { type Outgoing, publish, send, setTimer } from "@reprise/actor"
import { defined, isStandalone, type PublicEvent, SessionId, to } from "@reprise/protocol"
import { type NotifyWork, noticeQuestion, notify, type QuestionNotice } from "../notify/Notice.ts"
import type { InputOf } from "./inputs.ts"
import type { JournalEvent, JournalEventOf, Question } from "./journal.ts"
import { defaultReminders, type ReminderSettings, reminderAfterMs } from "./reminders.ts"
import { contextOf, type EscalationState, namedAgent, toldOf } from "./state.ts"

const later = (iso: string, ms: number) => new Date(Date.parse(iso) + ms).toISOString()

type GateOutgoing = Outgoing<InputOf<"Remind">, NotifyWork>

const setReminder = (
  settings: ReminderSettings | undefined,
  { escalationId }: Question,
  count: number,
  now: string
): ReadonlyArray<GateOutgoing> => {
  const afterMs = reminderAfterMs(settings ?? defaultReminders, count)
  if (afterMs === undefined) return []
  const command: InputOf<"Remind"> = { _tag: "Remind", escalationId, count }
  return [setTimer(later(now, afterMs), command)]
}

/**
 * The context in the event that closes a question. A standalone session shows its open question, so its id is in the
 * event even when it cannot be continued.
 */
const closedContextOf = (question: Question) => ({
  ...contextOf(question),
  ...(isStandalone(question) ? { sessionId: SessionId.make(question.runId) } : {})
})

const announceAnswer = (question: Question, event: JournalEventOf<"Answered">): ReadonlyArray<GateOutgoing> => {
  const answer = {
    choice: event.choice,
    by: event.by,
    via: event.via,
    ...defined({ guidance: event.guidance }),
    ...namedAgent(event)
  }
  const published = publish({
    _tag: "EscalationAnswered",
    ...closedContextOf(question),
    ...answer,
    ...defined({ commit: event.commit })
  })
  const { escalationId, runId } = question
  return [published, send(to.orchestrator(runId).AnswerReceived({ escalationId, ...answer }))]
}

/** An update is published under the same id: readers replace what they show. */
const raised = (question: Question): PublicEvent => ({ ...question, _tag: "EscalationRaised" })

/** What the channels that have the question are told of its end; undefined: it is open, or was never raised. */
const closingNotice = (state: EscalationState): QuestionNotice | undefined => {
  if (state.status === "answered") {
    const { by, choice, via } = state.answer
    return { _tag: "Answered", question: noticeQuestion(state.question, state.raisedAt), choice, by, via }
  }
  if (state.status !== "withdrawn" || state.question === undefined) return undefined
  const question = noticeQuestion(state.question, state.raisedAt)
  return { _tag: "Withdrawn", question, reason: state.withdrawal.reason }
}

const notifyOfEnd = (state: EscalationState, channels: ReadonlyArray<string>): ReadonlyArray<GateOutgoing> => {
  const notice = closingNotice(state)
  return notice === undefined ? [] : notify(channels, notice)
}

const outgoing = (state: EscalationState, event: JournalEvent): ReadonlyArray<GateOutgoing> => {
  switch (event._tag) {
    case "Raised":
      return [
        publish(raised(event.question)),
        ...setReminder(event.reminders, event.question, 1, event.at),
        ...notify(event.channels ?? [], { _tag: "Raised", question: noticeQuestion(event.question, event.at) })
      ]
    case "Updated":
      return [publish(raised(event.question))]
    case "Reminded": {
      if (state.status !== "open") return []
      const { question, raisedAt: openSince } = state
      const reminded = publish({ _tag: "EscalationReminded", ...contextOf(question), openSince, count: event.count })
      const notice: QuestionNotice = {
        _tag: "Reminder",
        question: noticeQuestion(question, openSince),
        count: event.count
      }
      return [
        reminded,
        ...setReminder(state.reminderSettings, question, event.count + 1, event.at),
        ...notify(toldOf(state), notice)
      ]
    }
    case "Answered":
      return state.status === "answered"
        ? [...announceAnswer(state.question, event), ...notifyOfEnd(state, toldOf(state))]
        : []
    case "Overruled": {
      if (state.status !== "answered") return []
      const { by, choice, guidance, via } = state.answer
      const said = guidance === undefined ? {} : { guidance }
      const { reason } = event
      return [
        publish({ _tag: "EscalationOverruled", ...closedContextOf(state.question), choice, by, via, ...said, reason })
      ]
    }
    case "Withdrawn":
      return state.status === "withdrawn" && state.question !== undefined
        ? [
            publish({ _tag: "EscalationWithdrawn", ...closedContextOf(state.question), reason: event.reason }),
            ...notifyOfEnd(state, toldOf(state))
          ]
        : []
    case "Told":
      return notifyOfEnd(state, [event.channel])
  }
}

export const react = (state: EscalationState, events: ReadonlyArray<JournalEvent>): ReadonlyArray<GateOutgoing> =>
  events.flatMap((event) => outgoing(state, event))
