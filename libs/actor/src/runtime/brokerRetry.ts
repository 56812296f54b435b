/** Retries while the broker is full or cannot be reached. */
import { Duration, Effect, Schedule } from "effect"
import { BrokerFault, BrokerFull } from "../broker/faults.ts"

type BrokerTrouble = BrokerFault | BrokerFull
const isBrokerTrouble = (error: unknown): error is BrokerTrouble =>
  error instanceof BrokerFault || error instanceof BrokerFull

const firstPause = Duration.millis(200)
const longestPause = Duration.seconds(5)
const isPowerOfTwo = (n: number) => (n & (n - 1)) === 0

/** Pauses double up to five seconds. Failures 1, 2, 4, 8 … are logged: an hour without space is a dozen lines. */
const growingPauses = Schedule.min([Schedule.exponential(firstPause), Schedule.spaced(longestPause)]).pipe(
  Schedule.setInputType<unknown>(),
  Schedule.tap(({ attempt, input }) =>
    isPowerOfTwo(attempt) && isBrokerTrouble(input)
      ? Effect.logError(`waiting for the broker: ${input.message}`)
      : Effect.void
  )
)

/** Runs `work` after the pause that `first` leads to, and so on. */
const againAfter = <A, E, R>(first: BrokerTrouble, work: Effect.Effect<A, E | BrokerTrouble, R>) => {
  let failed: Effect.Effect<A, E | BrokerTrouble, R> | undefined = Effect.fail(first)
  return Effect.suspend(() => {
    const next = failed ?? work
    failed = undefined
    return next
  }).pipe(
    Effect.retry({ while: isBrokerTrouble, schedule: growingPauses }),
    // The schedule never ends, so this cannot happen; the compiler does not know it.
    Effect.catchIf(isBrokerTrouble, Effect.die)
  )
}

/**
 * Runs `work` again until it does not fail because of the broker. Any other failure is passed on at once. The queue of
 * an actor waits here instead of handing its message back: handing back would raise the message's delivery count until
 * it looked like a message that kills its process.
 */
export const retryBrokerTrouble = <A, E, R>(work: Effect.Effect<A, E | BrokerTrouble, R>) =>
  // Nearly all work succeeds at once, and pays for no schedule.
  Effect.catchIf(work, isBrokerTrouble, (first) => againAfter(first, work))
