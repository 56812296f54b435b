/**
 * Read models in the views bucket. Replicas may write the same view at the same time and out of order, so a write names
 * the revision it replaces, and a view of a later journal sequence is never replaced by an earlier one.
 */
import { Effect, Result, Schema } from "effect"
import type { Bucket } from "../broker/Broker.ts"
import type { BrokerFault, BrokerFull } from "../broker/faults.ts"

const StoredView = Schema.Struct({ sequence: Schema.Int, view: Schema.Unknown })

const decode = Schema.decodeUnknownResult(Schema.fromJsonString(StoredView))
export const readView = (text: string) => Result.getOrUndefined(decode(text))

/** The bucket revision that this process saw last; undefined: not looked yet. */
export interface ViewMark {
  revision: number | undefined
}
export const makeViewMark = (): ViewMark => ({ revision: undefined })

/** Writes the view of an actor at `sequence`, unless a later one is there. */
export const putView = Effect.fnUntraced(function* (
  bucket: Bucket,
  key: string,
  mark: ViewMark,
  sequence: number,
  view: unknown
) {
  const text = JSON.stringify({ sequence, view })
  const place = (revision: number | undefined) =>
    revision === undefined
      ? replaceOlder
      : bucket.put(key, text, revision).pipe(Effect.catchTag("Conflict", () => replaceOlder))
  const replaceOlder: Effect.Effect<number, BrokerFault | BrokerFull> = Effect.suspend(() => bucket.get(key)).pipe(
    Effect.flatMap((stored) => {
      const there = stored === undefined ? undefined : readView(stored.value)
      return there !== undefined && there.sequence > sequence
        ? Effect.succeed(stored?.revision ?? 0)
        : place(stored?.revision ?? 0)
    })
  )
  mark.revision = yield* place(mark.revision)
})
