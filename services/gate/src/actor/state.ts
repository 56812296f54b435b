/** One question to a human: open until the first valid answer, through whichever channel, or until it is withdrawn. */
import type { JournalEventOf, Question } from "./journal.ts"

export type EscalationState =
  | { readonly status: "none" }
  | { readonly status: "open"; readonly question: Question; readonly raisedAt: string; readonly reminders: number }
  | {
      readonly status: "answered"
      readonly question: Question
      readonly raisedAt: string
      readonly answer: JournalEventOf<"Answered">
      /** The answer came too late for the run. */
      readonly overruled?: JournalEventOf<"Overruled">
    }
  | {
      readonly status: "withdrawn"
      /** Absent when it was withdrawn before it was raised. */
      readonly question?: Question
      readonly raisedAt?: string
      readonly withdrawal: JournalEventOf<"Withdrawn">
    }

export type OpenEscalation = Extract<EscalationState, { readonly status: "open" }>
export type ClosedEscalation = Exclude<EscalationState, { readonly status: "none" | "open" }>

export const initial: EscalationState = { status: "none" }

/** What every public event about a question, and its view, say about where it came from. */
export const contextOf = (question: Question) => ({
  runId: question.runId,
  escalationId: question.escalationId,
  ...(question.phase === undefined ? {} : { phase: question.phase }),
  ...(question.step === undefined ? {} : { step: question.step }),
  ...(question.sessionId === undefined ? {} : { sessionId: question.sessionId })
})
