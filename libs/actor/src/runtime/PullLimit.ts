/** How much work for any host a worker may pull, beside its own free slots: a host may have reasons to take less. */
import type { Key } from "@reprise/protocol"
import { Stream, SubscriptionRef } from "effect"

/** One reason. Several are combined by `smallestLimit`. */
export interface PullLimit {
  /**
   * How many more pieces may come now. `underWay`: the keys of the actors for which such work is under way in this process.
   * Infinity: this is not a reason to take less.
   */
  readonly available: (underWay: ReadonlySet<Key>) => number
  /** Emits when there may be more room than before. */
  readonly changes: Stream.Stream<unknown>
}

/** A host that is drained has none. */
export const unlessDrained = (drainedAt: SubscriptionRef.SubscriptionRef<string | undefined>): PullLimit => ({
  available: () => (SubscriptionRef.getUnsafe(drainedAt) === undefined ? Number.POSITIVE_INFINITY : 0),
  changes: SubscriptionRef.changes(drainedAt)
})

/** A host that lacks what its service needs has none. */
export const whileMet = (met: SubscriptionRef.SubscriptionRef<boolean>): PullLimit => ({
  available: () => (SubscriptionRef.getUnsafe(met) ? Number.POSITIVE_INFINITY : 0),
  changes: SubscriptionRef.changes(met)
})

/** As much as each of them allows. */
export const smallestLimit = (reasons: ReadonlyArray<PullLimit>): PullLimit => ({
  available: (underWay) => Math.max(0, Math.min(...reasons.map(({ available }) => available(underWay)))),
  changes: Stream.mergeAll(
    reasons.map(({ changes }) => changes),
    { concurrency: "unbounded" }
  )
})
