/** The journal of a Review actor: the events that it published, and those that only it needs. */
import { Host, ReviewCommand, ReviewEvent, ReviewerTurnId, SessionId } from "@reprise/protocol"
import { Schema } from "effect"

const { ReviewFailed, ReviewStarted, VerdictReached } = ReviewEvent.cases

/** The session-manager was asked for a turn. Its ids are never used again. */
const ReviewRequested = Schema.TaggedStruct("ReviewRequested", {
  request: ReviewCommand.cases.RequestReview,
  sessionId: SessionId,
  turnId: ReviewerTurnId,
  /** The commit that the session reviewed last; absent: a new session. */
  lastReviewed: Schema.optionalKey(Schema.String),
  /** Ids of the request's words that the session was given before. */
  told: Schema.optionalKey(Schema.Array(Schema.Int)),
  /** The review goes on in the session in which it was interrupted. `unread`: before its agent had read the prompt. */
  resumed: Schema.optionalKey(Schema.Literals(["begun", "unread"])),
  /** The session was on this host, which is gone: it is told what was saved of its conversation. */
  movedFrom: Schema.optionalKey(Host)
})

/** The turn is to end, and its session to stay usable. */
const ReviewInterrupted = Schema.TaggedStruct("ReviewInterrupted", {
  sessionId: SessionId,
  turnId: ReviewerTurnId,
  reason: Schema.String
})

/** The interrupted turn has ended. `given`: its agent had read the prompt. */
const ReviewerKept = Schema.TaggedStruct("ReviewerKept", { sessionId: SessionId, given: Schema.Boolean })

/** The session is not used any more: the next review begins in a new one. */
const ReviewerForgotten = Schema.TaggedStruct("ReviewerForgotten", {
  sessionId: SessionId,
  aborted: Schema.Boolean,
  reason: Schema.String
})

/** The session's host is gone: the next review goes on in it on another one. */
const ReviewerMoved = Schema.TaggedStruct("ReviewerMoved", { sessionId: SessionId, from: Host })

export const JournalEvent = Schema.Union([
  ReviewRequested,
  ReviewStarted,
  VerdictReached,
  ReviewFailed,
  ReviewInterrupted,
  ReviewerKept,
  ReviewerForgotten,
  ReviewerMoved
])
export type JournalEvent = typeof JournalEvent.Type
export type JournalEventOf<Tag extends JournalEvent["_tag"]> = Extract<JournalEvent, { readonly _tag: Tag }>
