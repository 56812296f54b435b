/** Waiting out a broker that is full or away: nothing is lost or given up, and the fault shows in the log. */
import { Effect } from "effect"
import type { BrokerFault, BrokerFull } from "../broker/faults.ts"

const longestPauseMs = 5_000
const isPowerOfTwo = (n: number) => (n & (n - 1)) === 0

/** A failure is logged when it is the first, then ever more rarely: an hour without space is a handful of lines. */
const pause = Effect.fnUntraced(function* (failures: number, error: BrokerFault | BrokerFull) {
  if (isPowerOfTwo(failures)) yield* Effect.logError(`waiting for the broker: ${error.message}`)
  yield* Effect.sleep(`${Math.min(longestPauseMs, 100 * 2 ** Math.min(failures, 10))} millis`)
})

/** Runs `work` until it does not fail for want of a broker; pauses grow to five seconds. */
export const patiently = <A, E extends { readonly _tag: string }, R>(
  work: Effect.Effect<A, E | BrokerFault | BrokerFull, R>,
  beforeRetry: Effect.Effect<void> = Effect.void
) => {
  const attempt = (failures: number): Effect.Effect<A, Exclude<E, BrokerFault | BrokerFull>, R> =>
    Effect.catchTag(work, ["BrokerFault", "BrokerFull"], (error) =>
      beforeRetry.pipe(
        Effect.andThen(pause(failures, error as BrokerFault | BrokerFull)),
        Effect.andThen(Effect.suspend(() => attempt(failures + 1)))
      )
    ) as Effect.Effect<A, Exclude<E, BrokerFault | BrokerFull>, R>
  return attempt(1)
}
