/**
 * The deliveries that this process has under way. Heartbeats hold each until it is settled, so that the broker gives a
 * delivery that waits in a queue to nobody else. A message that is delivered again meanwhile stays one delivery.
 */
import { Effect, FiberSet } from "effect"
import type { ActorSettings } from "../ActorConfig.ts"
import type { Delivered } from "../broker/Broker.ts"

export interface Deliveries {
  /** Returns false when this message is under way already: then there is nothing to do. */
  readonly begin: (delivery: Delivered) => boolean
  readonly ack: (delivery: Delivered) => void
  readonly nak: (delivery: Delivered, delayMs?: number) => void
}

/** For one consumer. When the scope closes, what is still under way is handed back at once. */
export const makeDeliveries = Effect.fnUntraced(function* (settings: Pick<ActorSettings, "heartbeatMs">) {
  const underWay = new Map<number, Delivered>()

  /** The broker waits for an answer to the newest delivery of the message. */
  const takeNewest = (delivery: Delivered): Delivered => {
    const newest = underWay.get(delivery.sequence) ?? delivery
    underWay.delete(delivery.sequence)
    return newest
  }

  const run = yield* FiberSet.runtime(yield* FiberSet.make<void, never>())()
  let beats = false
  const beat: Effect.Effect<void> = Effect.andThen(
    Effect.sleep(settings.heartbeatMs),
    Effect.suspend(() => {
      for (const delivery of underWay.values()) delivery.working()
      beats = underWay.size > 0
      return beats ? beat : Effect.void
    })
  )
  /** Heartbeats begin with a delivery and end when none is left: an idle process does not wake up. */
  const keepBeating = () => {
    if (beats) return
    beats = true
    run(beat)
  }

  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      for (const delivery of underWay.values()) delivery.nak()
    })
  )

  return {
    begin: (delivery) => {
      const known = underWay.has(delivery.sequence)
      underWay.set(delivery.sequence, delivery)
      keepBeating()
      return !known
    },
    ack: (delivery) => takeNewest(delivery).ack(),
    nak: (delivery, delayMs) => takeNewest(delivery).nak(delayMs)
  } satisfies Deliveries
})
