/**
 * Read models in the views bucket. Replicas may write the same view at the same time and out of order, so a write names
 * the revision it replaces, and a view of a later journal sequence is never replaced by an earlier one.
 */
import type { Key } from "@reprise/protocol"
import { Effect, Result, Schema } from "effect"
import type { Tagged } from "../Actor.ts"
import type { Bucket } from "../broker/Broker.ts"
import type { BrokerFault, BrokerFull } from "../broker/faults.ts"
import type { LoadedActor } from "./ActorMemory.ts"
import type { ActorRuntime } from "./ActorRuntime.ts"

const StoredView = Schema.Struct({ sequence: Schema.Int, view: Schema.Unknown })

const decode = Schema.decodeUnknownResult(Schema.fromJsonString(StoredView))
/** A stored view; undefined when it cannot be read. */
export const readView = (text: string) => Result.getOrUndefined(decode(text))

/** The bucket revision that this process saw last; undefined: not looked yet. */
export interface ViewMark {
  revision: number | undefined
}
export const makeViewMark = (): ViewMark => ({ revision: undefined })

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

/** Writes an actor's view, if it has one. A view is a convenience: a failure is logged, and fails no input. */
export const publishView = <State, Input extends Tagged, Event extends Tagged>(
  { actor, broker }: ActorRuntime<State, Input, Event>,
  key: Key,
  loaded: LoadedActor<State>
) =>
  Effect.suspend(() => {
    const view = loaded.sequence === 0 ? undefined : actor.view?.(loaded.state)
    if (view === undefined) return Effect.void
    return putView(broker.views, `${actor.service}.${key}`, loaded.view, loaded.sequence, view)
  }).pipe(Effect.catchCause((cause) => Effect.logWarning("the view was not written", cause)))
