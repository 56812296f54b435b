/** A turn that waits for its model's vendor, and continues by itself, as text for people. Pure. */
import { minuteText, type SessionView } from "@reprise/protocol"
import { quotedRest } from "../terminal/visible.ts"
import { vendorWords } from "./eventLine.ts"
import { clock } from "./live/statusLines.ts"

/** What a session's view says of it. */
export type Postponed = NonNullable<SessionView["postponed"]>

/** `Rate limited, again in 12:03` */
export const postponedShort = ({ kind, until }: Postponed, nowMs: number): string => {
  const left = Date.parse(until) - nowMs
  return `${vendorWords(kind)}, ${left <= 0 ? "trying again" : `again in ${clock(left + 999)}`}`
}

/** The same with the time and the vendor's words. */
export const postponedLong = (postponed: Postponed, nowMs: number): string =>
  `${postponedShort(postponed, nowMs)} (${minuteText(postponed.until)}): ${quotedRest(postponed.message)}`
