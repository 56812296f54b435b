/** What a Review actor takes: its commands, and what becomes of its reviewer's turns. */
import type { Subscription } from "@reprise/actor"
import { type PublicEvent, ReviewCommand, reviewKey } from "@reprise/protocol"

export const commands = ReviewCommand

const subscribed = ["SessionReused", "SessionReplaced", "TurnCompleted", "TurnFailed"] as const satisfies ReadonlyArray<
  PublicEvent["_tag"]
>
type TurnEvent = Extract<PublicEvent, { readonly _tag: (typeof subscribed)[number] }>

export type ReviewInput = ReviewCommand | TurnEvent
export type InputOf<Tag extends ReviewInput["_tag"]> = Extract<ReviewInput, { readonly _tag: Tag }>

/** A reviewer's turn belongs to the review of its phase; an author's to no review. */
export const subscription: Subscription<TurnEvent> = {
  types: subscribed,
  route: ({ phase, role, runId }) => (role === "reviewer" && phase !== undefined ? reviewKey(runId, phase) : undefined)
}
