/** The Review actor: one per run and phase, keyed by `reviewKey(runId, phase)`. */
import type { Actor } from "@reprise/actor"
import { type PublicEvent, ReviewCommand } from "@reprise/protocol"
import { decide, type ReviewInput } from "./decide.ts"
import { JournalEvent } from "./events.ts"
import { evolve } from "./evolve.ts"
import { keyOf, noReview, type Review } from "./Review.ts"
import { react } from "./react.ts"
import { view } from "./reviewView.ts"

/** Turns of a reviewer belong to the review of their phase. */
const route = (event: PublicEvent) =>
  (event._tag === "TurnCompleted" || event._tag === "TurnFailed") &&
  event.role === "reviewer" &&
  event.phase !== undefined
    ? keyOf(event.runId, event.phase)
    : undefined

export const reviewActor: Actor<Review, ReviewInput, JournalEvent> = {
  service: "reviewer",
  commands: ReviewCommand,
  subscription: { types: ["TurnCompleted", "TurnFailed"], route },
  journal: JournalEvent,
  initial: noReview,
  decide,
  evolve,
  react,
  runOf: (review) => review.runId,
  view,
  snapshotVersion: 1
}
