/** The read model of the reviews of one phase. */

import type { ReviewView } from "@reprise/protocol"
import { defined, reviewKey } from "@reprise/protocol"
import type { OpenReview, ReviewState, VerdictReached } from "./state.ts"

const reviewing = ({ request, sessionId, turnId }: OpenReview) => ({
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
  ...defined({ sessionId, turnId })
})

const statusOf = ({ interrupted, open, reached }: ReviewState) => {
  if (open !== undefined) return reviewing(open)
  if (interrupted !== undefined) return { status: "closed" as const, sessionId: interrupted.sessionId }
  return reached === undefined ? { status: "closed" as const } : judged(reached)
}

/** Undefined until the first review is requested. */
export const view = (review: ReviewState): ReviewView | undefined => {
  if (review.runId === undefined) return undefined
  const { phase, reached, runId, sessions, turns } = review
  return {
    reviewId: reviewKey(runId, phase),
    runId,
    phase,
    ...statusOf(review),
    ...(reached === undefined ? {} : { verdict: reached.verdict }),
    turns,
    sessions
  }
}
