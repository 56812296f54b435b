/** Hours in which nobody is notified (docs/notifications.md#quiet-hours). Pure. */
import { Schema } from "effect"

const pattern = /^([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)$/

/** `22:00-07:00`. */
export const QuietHours = Schema.String.check(
  Schema.isPattern(pattern, { message: "Expected hours such as 22:00-07:00" })
)

const minuteMs = 60_000
const dayMinutes = 24 * 60

/** How long it stays quiet, in milliseconds, at a minute of the day; 0: it is not quiet. `to` itself is not quiet. */
export const quietForMs = (hours: string | undefined, minuteOfDay: number): number => {
  const [, fromHour, fromMinute, toHour, toMinute] = pattern.exec(hours ?? "")?.map(Number) ?? []
  if (fromHour === undefined || fromMinute === undefined || toHour === undefined || toMinute === undefined) return 0
  const from = fromHour * 60 + fromMinute
  const to = toHour * 60 + toMinute
  const sinceStart = (minuteOfDay - from + dayMinutes) % dayMinutes
  const length = (to - from + dayMinutes) % dayMinutes
  return sinceStart < length ? (length - sinceStart) * minuteMs : 0
}
