/**
 * Counts what a session uses. The runtime's total is the truth: it holds what was aborted, and what humans used in the
 * session. Each count takes what the total has grown by since the one before.
 */
import { addUsage, maxUsage, noUsage, subtractUsage, type Usage } from "@reprise/protocol"
import { Equal } from "effect"
import type { EventOf, SessionDetails } from "./journal.ts"
import { eventFields, type Session } from "./state.ts"

/** Dollars. Less than this is what adding and subtracting leaves over; real cost that is less counts when it has grown. */
const leastCost = 1e-6

const uncounted = ({ counted }: Session, total: Usage): Usage => {
  const grown = subtractUsage(total, counted)
  return grown.cost < leastCost ? { ...grown, cost: 0 } : grown
}

/** What a prompt used: what it tells itself, or what the runtime's total has grown by, where that is more. */
export const usedByPrompt = (session: Session, told: Usage, total: Usage | undefined): Usage =>
  maxUsage(told, total === undefined ? noUsage : uncounted(session, total))

/** What no prompt of ours has used, if there is any. */
export const countOthers = (
  session: Session,
  details: SessionDetails,
  total: Usage | undefined
): ReadonlyArray<EventOf<"UsageCounted">> => {
  const isOurs = session.turn !== undefined && session.turn.stage !== "inspecting"
  if (isOurs || total === undefined) return []
  const others = uncounted(session, total)
  return Equal.equals(others, noUsage) ? [] : [{ _tag: "UsageCounted", ...eventFields(details), ...others }]
}

export const usageCounted = (session: Session, event: EventOf<"UsageCounted">): Session => ({
  ...session,
  used: addUsage(session.used, event),
  counted: addUsage(session.counted, event)
})
