/** When humans are reminded of a question that stays open (docs/design/gate.md#the-gate-where-humans-answer). Pure. */
import { Schema } from "effect"

export const ReminderSettings = Schema.Struct({
  /** Milliseconds from the question to the first reminder; 0: there are none. */
  remindAfterMs: Schema.Int,
  /** Milliseconds from each reminder to the next; 0: there is only the first. */
  remindEveryMs: Schema.Int
})
export type ReminderSettings = typeof ReminderSettings.Type

const minuteMs = 60_000
export const defaultReminders: ReminderSettings = { remindAfterMs: 10 * minuteMs, remindEveryMs: 60 * minuteMs }

/**
 * Milliseconds from what came before, the question or a reminder, until this reminder; undefined: there is none.
 * `count`: which one it is, from 1.
 */
export const reminderAfterMs = (
  { remindAfterMs, remindEveryMs }: ReminderSettings,
  count: number
): number | undefined => {
  if (remindAfterMs === 0) return undefined
  const ms = count === 1 ? remindAfterMs : remindEveryMs
  return ms === 0 ? undefined : ms
}
