/** Keeping a session's conversation: saved when it is paused, archived for good when it has ended (sessions: Lifecycle). */
import type { Delivery } from "@reprise/actor"
import { Result } from "effect"
import { type Decision, nothing } from "./guards.ts"
import type { SessionReport } from "./messages.ts"
import { hasEnded, placeOf, type Session } from "./Session.ts"

/** A runtime session that replaces another has an object of its own: the old conversation is kept beside it. */
export const transcriptOf = (sessionId: string, runtimeSessionId: string): string =>
  `session/${sessionId}/${runtimeSessionId}`

export const recordArchived = (
  session: Session,
  report: Extract<SessionReport, { readonly _tag: "RecordArchived" }>,
  delivery: Delivery
): Decision => {
  const { details, runtimeSessionId } = session
  if (details === undefined || runtimeSessionId === undefined) return nothing
  const { messages, object } = report
  // The session was replaced meanwhile: what was saved is kept under its own name.
  if (object !== transcriptOf(details.sessionId, runtimeSessionId)) return nothing
  const saved = { _tag: "TranscriptSaved" as const, object, messages, at: delivery.now }
  return hasEnded(session)
    ? Result.succeed([saved, { _tag: "SessionArchived", ...placeOf(details), object, messages }])
    : Result.succeed([saved])
}
