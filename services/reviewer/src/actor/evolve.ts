import type { ReviewRequest } from "../prompts.ts"
import type { JournalEvent } from "./journal.ts"
import type { ReviewState } from "./state.ts"

/** Everything of the run's ledger that a request holds: a decision and the words said with it have the same id. */
const idsOf = ({ decisions, words }: ReviewRequest): ReadonlyArray<number> => [
  ...new Set([...words, ...decisions].map(({ id }) => id))
]

export const evolve = (review: ReviewState, event: JournalEvent): ReviewState => {
  switch (event._tag) {
    case "ReviewRequested":
      return {
        ...review,
        runId: event.request.runId,
        phase: event.request.phase,
        turns: review.turns + 1,
        sessions: review.sessions + (event.lastReviewed === undefined ? 1 : 0),
        open: {
          request: event.request,
          sessionId: event.sessionId,
          turnId: event.turnId,
          started: false,
          ...(event.lastReviewed === undefined ? {} : { lastReviewed: event.lastReviewed })
        }
      }
    case "VerdictReached": {
      const { open, ...rest } = review
      const { commit, sessionId } = event
      const told = open === undefined ? (review.reviewer?.told ?? []) : idsOf(open.request)
      return { ...rest, reached: event, ...(sessionId === undefined ? {} : { reviewer: { sessionId, commit, told } }) }
    }
    case "ReviewerForgotten": {
      const { open: _, reached: __, reviewer: ___, ...rest } = review
      return rest
    }
    case "ReviewStarted":
      return review.open === undefined ? review : { ...review, open: { ...review.open, started: true } }
    // ReviewerForgotten, which is recorded with it, changes the state.
    case "ReviewFailed":
      return review
  }
}
