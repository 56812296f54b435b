/** The reviews of one phase: which session the reviewer has, and what it is reviewing now. */
import type { Host, PublicEvent, ReviewerTurnId, RunId, SessionId } from "@reprise/protocol"
import type { ReviewRequest } from "../prompts.ts"

export type VerdictReached = Extract<PublicEvent, { readonly _tag: "VerdictReached" }>

/** A review whose verdict is awaited. */
export interface OpenReview {
  readonly request: ReviewRequest
  readonly sessionId: SessionId
  readonly turnId: ReviewerTurnId
  /** The commit that the session reviewed last; undefined in a new session. */
  readonly lastReviewed?: string
  /** Ids of the words that its session was given before. */
  readonly told: ReadonlyArray<number>
  /** Its session was interrupted in this review before. `begun`: its agent knows the task. */
  readonly resumed?: "begun" | "unread"
  /** Its session was on this host, which is gone. */
  readonly movedFrom?: Host
  /** Its turn is being stopped. */
  readonly interrupting: boolean
  /** `ReviewStarted` is published, once it is known whether the session is used again. */
  readonly started: boolean
}

/** The session that follow-up reviews go to: kept only after a valid verdict. */
export interface KnownReviewer {
  readonly sessionId: SessionId
  /** The commit that it reviewed last. */
  readonly commit: string
  /** Ids of the words that it was given. */
  readonly told: ReadonlyArray<number>
}

/** A review that goes on in its session when it is requested again. */
export interface InterruptedReview {
  readonly sessionId: SessionId
  readonly commit: string
  readonly lastReviewed?: string
  readonly told: ReadonlyArray<number>
  /** Its agent has read what is to be reviewed. */
  readonly begun: boolean
}

export interface MovedReviewer {
  readonly sessionId: SessionId
  readonly from: Host
}

/** Whose reviews they are; absent until the first is requested. */
type Whose =
  | { readonly runId: RunId; readonly phase: ReviewRequest["phase"] }
  | { readonly runId?: never; readonly phase?: never }

export type ReviewState = Whose & {
  /** Sessions and turns that this actor has named so far. */
  readonly sessions: number
  readonly turns: number
  readonly reviewer?: KnownReviewer
  readonly open?: OpenReview
  readonly interrupted?: InterruptedReview
  /** The session that is to go on on another host than this one, which is gone. */
  readonly moved?: MovedReviewer
  /** The newest verdict: a repeated request is answered with it. */
  readonly reached?: VerdictReached
}

export const initial: ReviewState = { sessions: 0, turns: 0 }
