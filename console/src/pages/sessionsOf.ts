/** The sessions that a question is about. Pure. */
import type { EscalationView } from "@reprise/protocol"

export interface NamedSession {
  readonly id: string
  readonly title: "Session" | "Reviewer’s session" | "Author’s session"
}

/** The session of the agent that asks, and the author's if a reviewer asks. */
export const sessionsOf = ({ evidence, sessionId }: EscalationView): ReadonlyArray<NamedSession> => {
  const { authorSessionId: author } = evidence
  const asking = sessionId ?? evidence.sessionId
  if (author === undefined || author === asking) return asking === undefined ? [] : [{ id: asking, title: "Session" }]
  return [
    ...(asking === undefined ? [] : [{ id: asking, title: "Reviewer’s session" } as const]),
    { id: author, title: "Author’s session" }
  ]
}
