/** How much work for any host a worker takes, beside its own free slots: a host may have reasons to take less. */
import type { Key } from "@reprise/protocol"
import { Stream, SubscriptionRef } from "effect"

/** One reason. Several are combined by `leastRoom`. */
export interface RoomForAny {
  /**
   * How many more pieces may come now. `underWay`: the keys of the actors for which such work is under way in this process.
   * Infinity: this is no reason to take less.
   */
  readonly room: (underWay: ReadonlySet<Key>) => number
  /** Emits when there may be more room than before. */
  readonly more: Stream.Stream<unknown>
}

/** A host that is drained has none. */
export const unlessDrained = (drainedAt: SubscriptionRef.SubscriptionRef<string | undefined>): RoomForAny => ({
  room: () => (SubscriptionRef.getUnsafe(drainedAt) === undefined ? Number.POSITIVE_INFINITY : 0),
  more: SubscriptionRef.changes(drainedAt)
})

/** A host that lacks what its service needs has none. */
export const whileMet = (met: SubscriptionRef.SubscriptionRef<boolean>): RoomForAny => ({
  room: () => (SubscriptionRef.getUnsafe(met) ? Number.POSITIVE_INFINITY : 0),
  more: SubscriptionRef.changes(met)
})

/** As much as each of them allows. */
export const leastRoom = (reasons: ReadonlyArray<RoomForAny>): RoomForAny => ({
  room: (underWay) => Math.max(0, Math.min(...reasons.map(({ room }) => room(underWay)))),
  more: Stream.mergeAll(
    reasons.map(({ more }) => more),
    { concurrency: "unbounded" }
  )
})
