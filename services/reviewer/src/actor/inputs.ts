/** What a Review actor takes: its commands, and the ends of its reviewer's turns. */
import type { Subscription } from "@reprise/actor"
import { type PublicEvent, ReviewCommand } from "@reprise/protocol"
import { keyOf } from "./state.ts"

export const commands = ReviewCommand

const turnEnds = ["TurnCompleted", "TurnFailed"] as const satisfies ReadonlyArray<PublicEvent["_tag"]>
type TurnEnd = Extract<PublicEvent, { readonly _tag: (typeof turnEnds)[number] }>

export type ReviewInput = ReviewCommand | TurnEnd
export type InputOf<Tag extends ReviewInput["_tag"]> = Extract<ReviewInput, { readonly _tag: Tag }>

/** A reviewer's turn belongs to the review of its phase; an author's to no review. */
export const subscription: Subscription<TurnEnd> = {
  types: turnEnds,
  route: ({ phase, role, runId }) => (role === "reviewer" && phase !== undefined ? keyOf(runId, phase) : undefined)
}
