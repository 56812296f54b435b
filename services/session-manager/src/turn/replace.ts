/** Whether a turn whose session is lost goes on in another one (docs/design/sessions.md#turns). */
import type { TurnRequest } from "../session/journal.ts"
import { type Session, savedOf } from "../session/state.ts"

/** Whether the runtime session's conversation was saved, so that another one can be told it. */
const wasSaved = (session: Session): boolean =>
  session.runtimeSessionId !== undefined && savedOf(session, session.runtimeSessionId) !== undefined

/** Of a session that the runtime does not know any more, or that it knows without any message. */
export const mayReplace = (session: Session, { onMissing }: Pick<TurnRequest, "onMissing">): boolean =>
  onMissing === "fresh" || (onMissing === "reconstruct" && wasSaved(session))

/** Of a session that has ended. What a human ended, or what was done, is continued only by a turn that may begin again. */
export const mayReplaceEnded = (session: Session, request: Pick<TurnRequest, "onMissing">): boolean =>
  request.onMissing === "fresh" ||
  ((session.status === "expired" || session.status === "failed") && mayReplace(session, request))
