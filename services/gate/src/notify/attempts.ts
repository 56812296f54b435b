/** When a delivery is tried again, and when it is given up (docs/notifications.md#retries). Pure. */
import { defined } from "@reprise/protocol"

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const longestPauseMs = 20 * minuteMs
const longestRetryAfterMs = hourMs

export type Outcome =
  /** `warning`: not everybody has it. */
  | { readonly _tag: "Delivered"; readonly warning?: string }
  /** `afterMs`: the receiver asked for this pause. `maybeReceived`: no answer came, so it may have the message. */
  | { readonly _tag: "Failed"; readonly reason: string; readonly afterMs?: number; readonly maybeReceived: boolean }
  /** Trying again would not help. */
  | { readonly _tag: "Refused"; readonly reason: string }

/** The pause that a header `Retry-After` asks for: seconds, or a date. At most an hour. */
export const readRetryAfter = (header: string | null, nowMs: number): number | undefined => {
  if (header === null) return undefined
  const text = header.trim()
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : /[a-z]/i.test(text) ? Date.parse(text) - nowMs : Number.NaN
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, longestRetryAfterMs) : undefined
}

/** Client errors that pass by themselves: a timeout, too early, too many. */
const passing: ReadonlySet<number> = new Set([408, 425, 429])

/**
 * What an answer means. A redirect is not followed: the message would go to a place that nobody configured. Other answers
 * of 4xx say that the address, the secret or the message is wrong, so that trying again would not help.
 */
export const outcomeOf = (status: number, retryAfter: string | null, nowMs: number): Outcome => {
  if (status >= 200 && status < 300) return { _tag: "Delivered" }
  const reason = `it answered ${status}`
  if (status >= 300 && status < 400)
    return { _tag: "Refused", reason: `${reason}, a redirect, and those are not followed` }
  if (status < 500 && !passing.has(status)) return { _tag: "Refused", reason }
  const afterMs = readRetryAfter(retryAfter, nowMs)
  return { _tag: "Failed", reason, maybeReceived: false, ...defined({ afterMs }) }
}

/** The pause after the n-th attempt, from 1: 1 s, 2 s, 4 s … 20 minutes. */
export const pauseMs = (attempt: number): number => Math.min(longestPauseMs, 1000 * 2 ** Math.min(attempt - 1, 30))

/** A day; reminders an hour, as the next one follows. */
const patienceMs = { question: 24 * hourMs, reminder: hourMs } as const

/** Whether it is too late to try again. */
export const isOver = (kind: keyof typeof patienceMs, requestedAt: string, nowMs: number): boolean =>
  nowMs - Date.parse(requestedAt) > patienceMs[kind]
