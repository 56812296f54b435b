import type { ReviewView } from "@reprise/protocol"
import { keyOf, type OpenReview, type Review, type VerdictReached } from "./Review.ts"

const underWay = ({ request, sessionId, turnId }: OpenReview) => ({
  status: "reviewing" as const,
  cycle: request.cycle,
  commit: request.commit,
  sessionId,
  turnId
})

const judged = ({ commit, cycle, sessionId, turnId }: VerdictReached) => ({
  status: "judged" as const,
  cycle,
  commit,
  ...(sessionId === undefined ? {} : { sessionId }),
  ...(turnId === undefined ? {} : { turnId })
})

const stage = ({ open, reached }: Review) => {
  if (open !== undefined) return underWay(open)
  return reached === undefined ? { status: "closed" as const } : judged(reached)
}

/** The read model; undefined until a review is asked for. */
export const view = (review: Review): ReviewView | undefined => {
  const { phase, reached, runId, sessions, turns } = review
  if (runId === undefined || phase === undefined) return undefined
  return {
    reviewId: keyOf(runId, phase),
    runId,
    phase,
    ...stage(review),
    ...(reached === undefined ? {} : { verdict: reached.verdict }),
    turns,
    sessions
  }
}
