/** One question to a human: open until the first valid answer, through whichever channel, or until it is withdrawn. */
import { defined } from "@reprise/protocol"
import type { JournalEventOf, Question } from "./journal.ts"
import type { ReminderSettings } from "./reminders.ts"

/** Absent fields: none. */
interface Notified {
  /** The channels that are to be told of the question. */
  readonly channels?: ReadonlyArray<string>
  /** The channels that have the question, or may have it. */
  readonly told?: ReadonlyArray<string>
}

/** A question that was raised, and when. */
interface Asked {
  readonly question: Question
  readonly raisedAt: string
}

/** Both are absent in a question that was not raised. */
interface NotAsked {
  readonly question?: never
  readonly raisedAt?: never
}

export type EscalationState =
  | (NotAsked & { readonly status: "none"; readonly told?: never })
  | (Notified &
      Asked & {
        readonly status: "open"
        /** How many there have been. */
        readonly reminders: number
        /** Absent: the defaults. */
        readonly reminderSettings?: ReminderSettings
      })
  | (Notified &
      Asked & {
        readonly status: "answered"
        readonly answer: JournalEventOf<"Answered">
        /** The answer came too late for the run. */
        readonly overruled?: JournalEventOf<"Overruled">
      })
  | (Notified &
      /** It may be withdrawn before it is raised. */
      (Asked | NotAsked) & {
        readonly status: "withdrawn"
        readonly withdrawal: JournalEventOf<"Withdrawn">
      })

export type OpenEscalation = Extract<EscalationState, { readonly status: "open" }>
export type ClosedEscalation = Exclude<EscalationState, { readonly status: "none" | "open" }>

/** The channels to which a question is known. */
export const toldOf = ({ told = [] }: EscalationState): ReadonlyArray<string> => told

/** The channels that are to be told of an open question and have not been. */
export const notNotified = (state: OpenEscalation): ReadonlyArray<string> =>
  (state.channels ?? []).filter((channel) => !toldOf(state).includes(channel))

export const initial: EscalationState = { status: "none" }

/** What every public event about a question, and its view, say about where it came from. */
export const contextOf = (question: Question) => ({
  runId: question.runId,
  escalationId: question.escalationId,
  ...defined({ phase: question.phase, step: question.step, sessionId: question.sessionId })
})

/** What an answer says of the agent that takes over. */
export const namedAgent = ({
  model,
  runtime,
  variant
}: Pick<JournalEventOf<"Answered">, "model" | "runtime" | "variant">) => defined({ runtime, model, variant })
