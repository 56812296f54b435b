/** What still needs a session: a session that is held never expires (sessions: Lifecycle). */
import type { SessionView } from "@reprise/protocol"
import type { Session } from "./Session.ts"

export type Hold = NonNullable<SessionView["heldBy"]>

/**
 * `turn`: one is open. `agent`: it works by itself, or a human works in it. `question`: a human was asked, by it or by
 * its agent. `phase`: it belongs to one of a run, whose questions and checkpoints may need it: the run lets it go.
 */
export const holdOf = (session: Session): Hold | undefined => {
  if (session.turn !== undefined) return "turn"
  if (session.foreign) return "agent"
  if (session.question !== undefined || session.prompts.length > 0) return "question"
  return session.details?.phase === undefined ? undefined : "phase"
}
