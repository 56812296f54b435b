/**
 * When views are stored: an actor's view at most once in `viewEveryMs`, so that quick decisions cost one write together. A
 * view that waits is not lost with its process: the input of the newest decision in it is acknowledged when the view is
 * stored, and is delivered again otherwise. Whoever gets it then knows that decision, and stores the view (`sendAgain`).
 */
import type { Key } from "@reprise/protocol"
import { Clock, Effect, FiberSet, Latch, type Scope } from "effect"
import type { Actor, Tagged } from "../Actor.ts"
import type { ActorSettings } from "../ActorConfig.ts"
import type { BrokerShape } from "../broker/Broker.ts"
import type { LoadedActor } from "./ActorMemory.ts"
import { retryBrokerTrouble } from "./brokerRetry.ts"
import { putView, type StoredView, type ViewMark } from "./views.ts"

export interface ViewWriter<State> {
  /** Stores the view now, of an actor that nobody has heard of yet. A failure fails no input: it is tried again later. */
  readonly store: (key: Key, loaded: LoadedActor<State>) => Effect.Effect<void>
  /** The actor has changed: its view is stored soon. */
  readonly changed: (key: Key, loaded: LoadedActor<State>) => void
  /**
   * Acknowledges the input that this actor has just handled: when the view is stored that tells of its decision, or when
   * the input of a later decision waits for that. `sequence`: of its decision in the journal, 0 for none.
   */
  readonly whenStored: (key: Key, sequence: number, acknowledge: () => void) => void
  /** The views that are not stored yet, by their keys in the bucket. */
  readonly unstored: () => ReadonlyMap<string, StoredView>
}

/** An actor whose view is to be stored. */
interface Unstored<State> {
  loaded: LoadedActor<State>
  /** The view has to tell of the decision at this sequence. */
  sequence: number
  /** The input that waits for it, with the sequence of its decision. */
  held: { readonly sequence: number; readonly acknowledge: () => void } | undefined
  /** When the broker first refused it, in milliseconds since the epoch. */
  failsSinceMs: number | undefined
}

/**
 * A view is a convenience: when it cannot be stored for so long, no input waits for it. Longer than a broker is away to
 * start again.
 */
const heldForMs = 30_000

/** Decisions come in bursts: a view is stored when the first of them is over. */
const burstMs = 20
const graceMs = 1_000

const release = (one: Pick<Unstored<unknown>, "held">) => {
  one.held?.acknowledge()
  one.held = undefined
}

/** Of an actor that has no view: no input waits. */
const noViews: ViewWriter<unknown> = {
  store: () => Effect.void,
  changed: () => undefined,
  whenStored: (_key, _sequence, acknowledge) => acknowledge(),
  unstored: () => new Map()
}

/** Views that wait when the scope closes are stored then, in a second at most. */
export const makeViewWriter = Effect.fnUntraced(function* <State, Input extends Tagged, Event extends Tagged>(
  { service, view: viewOf }: Actor<State, Input, Event, Tagged>,
  { views }: BrokerShape,
  { viewEveryMs }: ActorSettings
): Effect.fn.Return<ViewWriter<State>, never, Scope.Scope> {
  if (viewOf === undefined) return noViews
  const clock = yield* Clock.Clock
  const writes = yield* FiberSet.make<void, never>()
  const run = yield* FiberSet.runtime(writes)()
  const closing = Latch.makeUnsafe()
  const waiting = new Map<Key, Unstored<State>>()

  const bucketKey = (key: Key) => `${service}.${key}`

  /** Stores the view of the actor as it is now, and gives its sequence. */
  const put = Effect.fnUntraced(function* (key: Key, { sequence, state, view: mark }: LoadedActor<State>) {
    const view = viewOf(state)
    mark.writtenAtMs = clock.currentTimeMillisUnsafe()
    if (view !== undefined) yield* putView(views, bucketKey(key), mark, sequence, view)
    return sequence
  })

  const pause = ({ writtenAtMs }: ViewMark) => {
    const sinceMs = clock.currentTimeMillisUnsafe() - writtenAtMs
    // A clock that was set back makes nobody wait for longer.
    const delayMs = Math.min(viewEveryMs, Math.max(burstMs, viewEveryMs - sinceMs))
    return Effect.timeoutOption(closing.await, delayMs)
  }

  const isGivenUp = ({ failsSinceMs = Infinity }: Unstored<State>) =>
    clock.currentTimeMillisUnsafe() - failsSinceMs >= heldForMs

  const attempt = (key: Key, one: Unstored<State>) =>
    Effect.suspend(() => {
      const { loaded, sequence } = one
      return put(key, loaded).pipe(
        Effect.tapError(() =>
          Effect.sync(() => {
            one.failsSinceMs ??= clock.currentTimeMillisUnsafe()
            if (isGivenUp(one)) release(one)
          })
        ),
        Effect.catchDefect((defect) => Effect.as(Effect.logWarning("the view was not written", defect), sequence))
      )
    })

  /** Stores the view until it tells of the newest decision. Nothing comes between the last look and the end. */
  const storeNewest = Effect.fnUntraced(function* (key: Key, one: Unstored<State>) {
    for (let stored = 0; stored < one.sequence; ) {
      yield* pause(one.loaded.view)
      stored = yield* retryBrokerTrouble(attempt(key, one))
      one.failsSinceMs = undefined
    }
    waiting.delete(key)
    release(one)
  })

  const changed = (key: Key, loaded: LoadedActor<State>) => {
    const { sequence } = loaded
    const known = waiting.get(key)
    if (known !== undefined) {
      known.loaded = loaded
      known.sequence = sequence
      return
    }
    const one: Unstored<State> = { loaded, sequence, held: undefined, failsSinceMs: undefined }
    waiting.set(key, one)
    run(storeNewest(key, one))
  }

  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      closing.openUnsafe()
      return FiberSet.awaitEmpty(writes).pipe(Effect.timeoutOption(graceMs), Effect.ignore)
    })
  )

  return {
    store: (key, loaded) =>
      Effect.catchCause(put(key, loaded), (cause) =>
        Effect.andThen(
          Effect.logWarning("the view was not written", cause),
          Effect.sync(() => changed(key, loaded))
        )
      ),
    changed,
    whenStored: (key, sequence, acknowledge) => {
      const one = waiting.get(key)
      if (one === undefined || isGivenUp(one) || sequence <= (one.held?.sequence ?? 0)) acknowledge()
      else {
        release(one)
        one.held = { sequence, acknowledge }
      }
    },
    unstored: () =>
      new Map(
        [...waiting].flatMap(([key, { loaded }]) => {
          const view = viewOf(loaded.state)
          return view === undefined ? [] : [[bucketKey(key), { sequence: loaded.sequence, view }] as const]
        })
      )
  }
})
