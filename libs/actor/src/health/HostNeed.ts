/**
 * What a service needs on its host besides the broker, such as an agent that is a program of its own. While it is not
 * there, the service is not ready, and its worker takes no work that another host can do. It goes on with what it has.
 */
import { Context, Effect, Layer, SubscriptionRef } from "effect"

export interface HostNeed {
  /** What is waited for, in the words of `waits for …`. */
  readonly what: string
  /** Whether it is there now. Takes some seconds at most. */
  readonly look: Effect.Effect<boolean>
}

/** How often in a row it may be missed: what is busy or restarts at once is not gone. */
const mayMiss = 3
const lookEvery = "2 seconds"

/** How often it was missed in a row, after one more look. Before it was there for the first time it counts as gone. */
export const missedAfter = (missed: number, isThere: boolean): number => (isThere ? 0 : Math.min(mayMiss, missed + 1))
export const isMetAfter = (missed: number): boolean => missed < mayMiss
const neverThere = mayMiss

/** Whether the need is met, for the workers of this process; undefined: they need nothing else. */
export const NeedMet = Context.Reference<SubscriptionRef.SubscriptionRef<boolean> | undefined>(
  "@reprise/actor/NeedMet",
  { defaultValue: () => undefined }
)

/** Looks once, and from then on until the scope closes. */
export const watchNeed = Effect.fnUntraced(function* ({ look, what }: HostNeed) {
  const met = yield* SubscriptionRef.make(false)
  let missed = neverThere
  const lookOnce = Effect.gen(function* () {
    missed = missedAfter(missed, yield* look)
    const isMet = isMetAfter(missed)
    if (isMet === SubscriptionRef.getUnsafe(met)) return
    yield* SubscriptionRef.set(met, isMet)
    yield* isMet
      ? Effect.logInfo(`There is ${what}.`)
      : Effect.logWarning(`Waiting for ${what}. Until then no new work is taken.`)
  })
  yield* lookOnce
  yield* Effect.delay(lookOnce, lookEvery).pipe(Effect.forever, Effect.forkScoped)
  return met
})

/** `met` for the workers of a service. */
export const needMetLayer = (met: SubscriptionRef.SubscriptionRef<boolean>): Layer.Layer<never> =>
  Layer.succeed(NeedMet, met)
