/** What a Review sends: turns to the session-manager, its own events to everybody. */
import { type Outgoing, publish, send } from "@reprise/actor"
import { type SessionCommand, sessionPrompts } from "@reprise/protocol"
import type { JournalEvent } from "./events.ts"
import { firstPrompt, followUpPrompt } from "./prompts.ts"

type Requested = Extract<JournalEvent, { readonly _tag: "ReviewRequested" }>

const startTurn = ({ lastReviewed, request, sessionId, turnId }: Requested): SessionCommand => ({
  _tag: "StartTurn",
  turnId,
  runId: request.runId,
  phase: request.phase,
  step: "REVIEW",
  role: "reviewer",
  onMissing: "fresh",
  runtime: request.runtime,
  ...(request.model === undefined ? {} : { model: request.model }),
  directory: request.directory,
  host: request.host,
  permissions: request.permissions,
  title: `Review of phase ${request.phase}`,
  report: "verdict",
  ...sessionPrompts(request.prompts),
  limits: request.limits,
  ...(lastReviewed === undefined
    ? { session: { _tag: "New" }, prompt: firstPrompt(request) }
    : {
        session: { _tag: "Existing", sessionId },
        prompt: followUpPrompt(request, lastReviewed),
        freshPrompt: firstPrompt(request),
        reason: "review-cycle"
      })
})

const outgoing = (event: JournalEvent): ReadonlyArray<Outgoing> => {
  switch (event._tag) {
    case "ReviewRequested":
      return [send("session-manager", event.sessionId, startTurn(event))]
    case "ReviewerForgotten": {
      const { aborted, reason, sessionId } = event
      const end: SessionCommand = aborted
        ? { _tag: "AbortSession", sessionId, reason }
        : { _tag: "CompleteSession", sessionId }
      return [send("session-manager", sessionId, end)]
    }
    default:
      return [publish(event)]
  }
}

export const react = (_review: unknown, events: ReadonlyArray<JournalEvent>): ReadonlyArray<Outgoing> =>
  events.flatMap(outgoing)
