/**
 * Counts what a session uses. The runtime's total is the truth: it holds what was aborted, and what humans used in the
 * session. Each count takes what the total has grown by since the one before.
 */
import { addUsage, maxUsage, noUsage, subtractUsage, type Usage } from "@reprise/protocol"
import { Equal } from "effect"
import type { EventOf, SessionDetails } from "../actor/journal.ts"
import { eventFields, type Session } from "../actor/state.ts"

/** What the present runtime session has used, as far as it is counted. */
export const counted = ({ used, usedBefore }: Session): Usage => subtractUsage(used, usedBefore)

const uncounted = (session: Session, total: Usage): Usage => subtractUsage(total, counted(session))

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
  used: addUsage(session.used, event)
})
