/** A timer is a message that is handed back until it is due; then its command is published and it is done. */
import { Clock, Effect } from "effect"
import { type BrokerShape, dueHeader } from "../broker/Broker.ts"
import { PoisonMessage } from "../DeadLetter.ts"
import { bodyOf } from "../wire.ts"
import type { Opened, Receiver } from "./Receiver.ts"

/** Handed back for at most this long, so that a clock that was set back does not hold a timer forever. */
const longestDelayMs = 60 * 60_000

const sendWhenDue = Effect.fnUntraced(function* (
  broker: BrokerShape,
  subject: string,
  timers: Receiver,
  { delivery, meta }: Opened
) {
  const dueAt = Date.parse(delivery.header(dueHeader))
  if (Number.isNaN(dueAt)) return yield* new PoisonMessage({ reason: `The header ${dueHeader} is not a time.` })
  const now = yield* Clock.currentTimeMillis
  const remaining = dueAt - now
  if (remaining > 0) return timers.nak(delivery, Math.min(remaining, longestDelayMs))
  const time = new Date(now).toISOString()
  yield* broker.publish([{ subject, meta: { ...meta, time }, body: yield* bodyOf(delivery) }])
  timers.ack(delivery)
})

/**
 * Handles one delivery of a timer. `subject`: where the timer's command goes. The command carries the timer's id, so
 * that a repeat is dropped. A timer is never early; it may be late by the time that the broker takes to deliver it.
 */
export const handleTimer = (
  broker: BrokerShape,
  subject: string,
  timers: Receiver,
  opened: Opened
): Effect.Effect<void> => timers.settleFailures(opened.delivery, sendWhenDue(broker, subject, timers, opened))
