/**
 * Read models in the views bucket. Replicas may write the same view at the same time and out of order, so a write names
 * the revision it replaces, and a view of a later journal sequence is never replaced by an earlier one.
 */
import { Effect, Result, Schema } from "effect"
import type { Bucket } from "../broker/Broker.ts"
import type { BrokerFault, BrokerFull } from "../broker/faults.ts"
import { textReader } from "../wire.ts"

/** A view with the journal sequence that it shows. */
const StoredView = Schema.Struct({ sequence: Schema.Int, view: Schema.Unknown })
export type StoredView = typeof StoredView.Type

const decode = textReader(StoredView)
/** A stored view; undefined when it cannot be read. */
export const readView = (text: string) => Result.getOrUndefined(decode(text))

/** A stored view as this process last saw it. */
export interface ViewMark {
  /** The bucket revision that it saw last; undefined: not looked yet. */
  revision: number | undefined
  /** When it wrote last, in milliseconds since the epoch. */
  writtenAtMs: number
}
export const makeViewMark = (): ViewMark => ({ revision: undefined, writtenAtMs: -Infinity })

interface ViewWrite {
  readonly bucket: Bucket
  readonly key: string
  readonly sequence: number
  readonly text: string
}

/** Looks at what is stored, and replaces it unless it is newer. Gives the revision that it wrote; undefined: none. */
const replaceOlder = (write: ViewWrite): Effect.Effect<number | undefined, BrokerFault | BrokerFull> =>
  Effect.flatMap(write.bucket.get(write.key), (stored) => {
    if (stored === undefined) return putAt(write, 0)
    const newer = (readView(stored.value)?.sequence ?? 0) > write.sequence
    // Its revision must not be replaced next time without a look: this process may be behind then still.
    return newer ? Effect.succeed(undefined) : putAt(write, stored.revision)
  })

/** Replaces the view at this revision; when another process replaced it meanwhile, looks again. */
const putAt = (write: ViewWrite, revision: number): Effect.Effect<number | undefined, BrokerFault | BrokerFull> =>
  write.bucket.put(write.key, write.text, revision).pipe(Effect.catchTag("Conflict", () => replaceOlder(write)))

/** Writes the view of an actor at `sequence`, unless a later one is stored. */
export const putView = Effect.fnUntraced(function* (
  bucket: Bucket,
  key: string,
  mark: ViewMark,
  sequence: number,
  view: unknown
) {
  const write: ViewWrite = { bucket, key, sequence, text: JSON.stringify({ sequence, view }) }
  mark.revision = yield* mark.revision === undefined ? replaceOlder(write) : putAt(write, mark.revision)
})
