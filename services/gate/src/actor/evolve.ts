import { defined } from "@reprise/protocol"
import type { JournalEvent } from "./journal.ts"
import { type EscalationState, toldOf } from "./state.ts"

const keepTold = ({ told }: { readonly told?: ReadonlyArray<string> }) => (told === undefined ? {} : { told })

/** Total: an event that cannot follow from the state leaves it as it is. */
export const evolve = (state: EscalationState, event: JournalEvent): EscalationState => {
  switch (event._tag) {
    case "Raised":
      return {
        status: "open",
        question: event.question,
        raisedAt: event.at,
        reminders: 0,
        ...defined({ channels: event.channels, reminderSettings: event.reminders })
      }
    case "Updated":
      return state.status === "open" ? { ...state, question: event.question } : state
    case "Reminded":
      return state.status === "open" ? { ...state, reminders: event.count } : state
    case "Answered":
      return state.status === "open"
        ? { status: "answered", question: state.question, raisedAt: state.raisedAt, answer: event, ...keepTold(state) }
        : state
    case "Told":
      return state.status === "none" ? state : { ...state, told: [...toldOf(state), event.channel] }
    case "Overruled":
      return state.status === "answered" ? { ...state, overruled: event } : state
    case "Withdrawn":
      return state.status === "open"
        ? {
            status: "withdrawn",
            question: state.question,
            raisedAt: state.raisedAt,
            withdrawal: event,
            ...keepTold(state)
          }
        : { status: "withdrawn", withdrawal: event }
  }
}
