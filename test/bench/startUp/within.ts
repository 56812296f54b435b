/** A limit for one step of a benchmark: what does not come is named, and nothing waits forever. */
import { Effect, Fiber } from "effect"

/** Dies, naming what was awaited, if it takes longer. What is given up is not waited for. */
export const within = <A, E, R>(seconds: number, what: string, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkDetach(effect)
    const giveUp = Effect.forkDetach(Fiber.interrupt(fiber))
    return yield* Fiber.join(fiber).pipe(
      Effect.timeoutOrElse({
        duration: `${seconds} seconds`,
        orElse: () => Effect.andThen(giveUp, Effect.die(new Error(`${what} did not come within ${seconds} s`)))
      }),
      Effect.onInterrupt(() => giveUp)
    )
  })

/** What a calm machine does in a second or two. */
export const step = <A, E, R>(what: string, effect: Effect.Effect<A, E, R>) => within(60, what, effect)
