/** What a Review actor takes: its commands, and the ends of its reviewer's turns. */
import type { Subscription } from "@reprise/actor"
import { type PublicEvent, ReviewCommand } from "@reprise/protocol"
import { keyOf } from "./state.ts"

export const commands = ReviewCommand

const turnEnds = ["TurnCompleted", "TurnFailed"] as const satisfies ReadonlyArray<PublicEvent["_tag"]>
type TurnEnd = Extract<PublicEvent, { readonly _tag: (typeof turnEnds)[number] }>

export type ReviewInput = ReviewCommand | TurnEnd
export type InputOf<Tag extends ReviewInput["_tag"]> = Extract<ReviewInput, { readonly _tag: Tag }>

const isTurnEnd = (event: PublicEvent): event is TurnEnd => turnEnds.some((type) => type === event._tag)

/** A reviewer's turn belongs to the review of its phase; an author's to no review. */
export const subscription: Subscription = {
  types: turnEnds,
  route: (event) =>
    isTurnEnd(event) && event.role === "reviewer" && event.phase !== undefined
      ? keyOf(event.runId, event.phase)
      : undefined
}
