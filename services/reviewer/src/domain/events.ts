/** The journal of a Review actor: what it published, and what only it needs to know. */
import { ReviewCommand, ReviewEvent, SessionId, TurnId } from "@reprise/protocol"
import { Schema } from "effect"

const { ReviewFailed, ReviewStarted, VerdictReached } = ReviewEvent.cases

/** A turn was asked of the session-manager, under ids that are never used again. */
const ReviewRequested = Schema.TaggedStruct("ReviewRequested", {
  request: ReviewCommand.cases.RequestReview,
  sessionId: SessionId,
  turnId: TurnId,
  /** What the session reviewed last; absent: a new session. */
  lastReviewed: Schema.optionalKey(Schema.String)
})

/** A session is of no further use to this phase. */
const ReviewerForgotten = Schema.TaggedStruct("ReviewerForgotten", {
  sessionId: SessionId,
  aborted: Schema.Boolean,
  reason: Schema.String
})

export const JournalEvent = Schema.Union([
  ReviewRequested,
  ReviewStarted,
  VerdictReached,
  ReviewFailed,
  ReviewerForgotten
])
export type JournalEvent = typeof JournalEvent.Type
