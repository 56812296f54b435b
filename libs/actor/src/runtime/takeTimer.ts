/** A timer is a message that is handed back until it is due; then its command is published and it is done. */
import { Clock, Effect } from "effect"
import type { BrokerShape } from "../broker/Broker.ts"
import { bodyOf } from "../wire.ts"
import type { Intake, Opened } from "./intake.ts"
import { Poison } from "./Poison.ts"

/** Handed back for at most this long, so that a clock that was set back does not hold a timer for ever. */
const longestDelayMs = 60 * 60_000

/** The header with the time a timer is due, ISO 8601. */
export const dueHeader = "reprise-due"

/** `subject`: where the timer's command goes. It carries the timer's id, so a repeat is dropped. */
export const takeTimer = (
  broker: BrokerShape,
  subject: string,
  timers: Intake,
  { delivery, meta }: Opened
): Effect.Effect<void> =>
  timers.guard(
    delivery,
    Effect.gen(function* () {
      const due = Date.parse(delivery.header(dueHeader))
      if (Number.isNaN(due)) return yield* new Poison({ reason: `The header ${dueHeader} is not a time.` })
      const remaining = due - (yield* Clock.currentTimeMillis)
      if (remaining > 0) return timers.nak(delivery, Math.min(remaining, longestDelayMs))
      const time = new Date(yield* Clock.currentTimeMillis).toISOString()
      yield* broker.publish([{ subject, meta: { ...meta, time }, body: yield* bodyOf(delivery) }])
      timers.ack(delivery)
    })
  )
