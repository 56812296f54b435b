/**
 * The deliveries this process has under way. Each is held by heartbeats until it is settled, so a delivery that waits
 * in a lane is not given to someone else; a message that is delivered again meanwhile is one delivery still.
 */
import { Effect } from "effect"
import type { ActorSettings } from "../ActorConfig.ts"
import type { Delivered } from "../broker/Broker.ts"

export interface Deliveries {
  /** False: this message is under way already, and the delivery is taken care of. */
  readonly begin: (delivery: Delivered) => boolean
  readonly ack: (delivery: Delivered) => void
  readonly nak: (delivery: Delivered, delayMs?: number) => void
}

/** For one consumer. When the scope closes, what is still under way is handed back at once. */
export const makeDeliveries = Effect.fnUntraced(function* (settings: Pick<ActorSettings, "heartbeatMs">) {
  const underWay = new Map<number, Delivered>()

  /** The newest delivery of the message is settled: it is the one that the broker waits for. */
  const settle = (delivery: Delivered, how: (newest: Delivered) => void) => {
    const newest = underWay.get(delivery.sequence)
    underWay.delete(delivery.sequence)
    how(newest ?? delivery)
  }

  yield* Effect.sync(() => {
    for (const delivery of underWay.values()) delivery.working()
  }).pipe(Effect.delay(`${settings.heartbeatMs} millis`), Effect.forever, Effect.forkScoped)
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      for (const delivery of underWay.values()) delivery.nak()
      underWay.clear()
    })
  )

  return {
    begin: (delivery) => {
      const known = underWay.has(delivery.sequence)
      underWay.set(delivery.sequence, delivery)
      return !known
    },
    ack: (delivery) => settle(delivery, (newest) => newest.ack()),
    nak: (delivery, delayMs) => settle(delivery, (newest) => newest.nak(delayMs))
  } satisfies Deliveries
})
