/** Listening to announcements from a moment on that is known. */
import { Effect, Fiber, Stream } from "effect"
import type { BrokerShape } from "../../src/broker/Broker.ts"

/** Returns when the broker knows the listener, which gets the next announcements, apart from those at `ready`. */
export const hearing = Effect.fnUntraced(function* (
  { announce, hear }: BrokerShape,
  pattern: string,
  ready: string,
  count: number
) {
  const isReady = ({ subject }: { readonly subject: string }) => subject === ready
  const heard = yield* hear(pattern).pipe(
    Stream.filter((told) => !isReady(told)),
    Stream.take(count),
    Stream.runCollect,
    Effect.forkChild({ startImmediately: true })
  )
  const known = yield* hear(pattern).pipe(
    Stream.filter(isReady),
    Stream.take(1),
    Stream.runDrain,
    Effect.forkChild({ startImmediately: true })
  )
  yield* Effect.raceFirst(Fiber.join(known), Effect.forever(Effect.delay(announce(ready, ""), "20 millis")))
  return heard
})
