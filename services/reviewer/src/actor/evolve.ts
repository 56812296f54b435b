import { defined } from "@reprise/protocol"
import type { ReviewRequest } from "../prompts.ts"
import type { JournalEvent } from "./journal.ts"
import type { InterruptedReview, OpenReview, ReviewState } from "./state.ts"

/** Everything of the run's ledger that a request holds: a decision and the words said with it have the same id. */
const idsOf = ({ decisions, words }: ReviewRequest): ReadonlyArray<number> => [
  ...new Set([...words, ...decisions].map(({ id }) => id))
]

/** What its agent knows when it was interrupted: it may have been interrupted in the same review before. */
const interruptedReview = (
  { lastReviewed, request, resumed, sessionId, told }: OpenReview,
  given: boolean
): InterruptedReview => ({
  sessionId,
  commit: request.commit,
  ...defined({ lastReviewed }),
  told: given ? [...new Set([...told, ...idsOf(request)])] : told,
  begun: given || resumed === "begun"
})

const withoutReviewer = ({
  interrupted: _,
  open: __,
  reached: ___,
  reviewer: ____,
  ...rest
}: ReviewState): ReviewState => rest

export const evolve = (review: ReviewState, event: JournalEvent): ReviewState => {
  switch (event._tag) {
    case "ReviewRequested": {
      const { lastReviewed, movedFrom, request, resumed, sessionId, told = [], turnId } = event
      const { interrupted: _, moved: __, ...rest } = review
      const isNew = lastReviewed === undefined && resumed === undefined && movedFrom === undefined
      return {
        ...rest,
        runId: request.runId,
        phase: request.phase,
        turns: review.turns + 1,
        sessions: review.sessions + (isNew ? 1 : 0),
        open: {
          ...{ request, sessionId, turnId, told },
          interrupting: false,
          started: false,
          ...defined({ lastReviewed, resumed, movedFrom })
        }
      }
    }
    case "ReviewInterrupted":
      return review.open === undefined ? review : { ...review, open: { ...review.open, interrupting: true } }
    case "ReviewerKept": {
      const { open, ...rest } = review
      return open === undefined ? review : { ...rest, interrupted: interruptedReview(open, event.given) }
    }
    case "VerdictReached": {
      const { open, ...rest } = review
      const { commit, sessionId } = event
      const told = open === undefined ? (review.reviewer?.told ?? []) : idsOf(open.request)
      return { ...rest, reached: event, ...(sessionId === undefined ? {} : { reviewer: { sessionId, commit, told } }) }
    }
    case "ReviewerForgotten": {
      const { moved: _, ...rest } = withoutReviewer(review)
      return rest
    }
    case "ReviewerMoved": {
      const rest = withoutReviewer(review)
      return { ...rest, moved: { sessionId: event.sessionId, from: event.from } }
    }
    case "ReviewStarted":
      return review.open === undefined ? review : { ...review, open: { ...review.open, started: true } }
    // ReviewerForgotten or ReviewerKept, which is recorded with it, changes the state.
    case "ReviewFailed":
      return review
  }
}
