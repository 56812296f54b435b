/**
 * What is kept of a conversation: everything that is new at the end of each turn and when the session is paused, and the
 * whole when it has ended (docs/design/sessions.md#lifecycle).
 */

import type { Delivery } from "@reprise/actor"
import type { RuntimeId, SessionId } from "@reprise/protocol"
import { Result } from "effect"
import { type Decision, nothing } from "../session/guards.ts"
import type { Report } from "../session/inputs.ts"
import type { EventOf } from "../session/journal.ts"
import { eventFields, hasEnded, type SavedTranscript, type Session } from "../session/state.ts"
import { countOthers } from "../session/usage.ts"

/** The object's name holds the runtime's id: a replaced runtime session keeps its conversation beside the new one's. */
export const transcriptOf = (sessionId: SessionId, runtimeSessionId: RuntimeId): string =>
  `session/${sessionId}/${runtimeSessionId}`

/** A conversation that was saved after its runtime session was replaced is kept, and not this session's any more. */
const ownTranscript = ({ details, runtimeSessionId }: Session, object: string): string | undefined => {
  if (details === undefined || runtimeSessionId === undefined) return undefined
  const own = transcriptOf(details.sessionId, runtimeSessionId)
  return object === own || object.startsWith(`${own}/`) ? own : undefined
}

/** The newest reading counts. After the whole has been archived, a part of it says nothing new. */
export const recordSaved = (session: Session, report: Report<"RecordSaved">): Decision => {
  const { digest, messages, object, readAt: at } = report
  const { runtimeSessionId, saved } = session
  if (session.archived || ownTranscript(session, object) === undefined) return nothing
  if (saved !== undefined && saved.of === runtimeSessionId && saved.at > at) return nothing
  return Result.succeed([{ _tag: "TranscriptSaved", object, messages, digest, at }])
}

export const recordArchived = (session: Session, report: Report<"RecordArchived">, delivery: Delivery): Decision => {
  const { messages, model, object, total } = report
  const { details } = session
  if (details === undefined || ownTranscript(session, object) === undefined) return nothing
  const answeredBy = model === undefined ? {} : { model }
  const saved = { _tag: "TranscriptSaved" as const, object, messages, ...answeredBy, at: delivery.now }
  const counted = countOthers(session, details, total)
  return hasEnded(session)
    ? Result.succeed([saved, ...counted, { _tag: "SessionArchived", ...eventFields(details), object, messages }])
    : Result.succeed([saved, ...counted])
}

/** The fold of `TranscriptSaved`. */
export const savedBy = (
  { runtimeSessionId = "" }: Session,
  { at, digest, messages, object }: EventOf<"TranscriptSaved">
): SavedTranscript => ({
  object,
  of: runtimeSessionId,
  ...(digest === undefined ? {} : { known: { messages, digest } }),
  at
})
