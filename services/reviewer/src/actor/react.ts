/** What a Review actor sends: turns to the session-manager, its public events to everybody. */
import { type Outgoing, publish, send } from "@reprise/actor"
import { sessionPrompts, to } from "@reprise/protocol"
import { firstPrompt, followUpPrompt } from "../prompts.ts"
import type { JournalEvent, JournalEventOf } from "./journal.ts"
import type { ReviewState } from "./state.ts"

const startTurn = ({ lastReviewed, request, sessionId, told = [], turnId }: JournalEventOf<"ReviewRequested">) =>
  to.sessionManager(sessionId).StartTurn({
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
          prompt: followUpPrompt(request, lastReviewed, told),
          freshPrompt: firstPrompt(request),
          reason: "review-cycle"
        })
  })

const endSession = ({ aborted, reason, sessionId }: JournalEventOf<"ReviewerForgotten">) =>
  aborted ? to.sessionManager(sessionId).AbortSession({ reason }) : to.sessionManager(sessionId).CompleteSession()

const outgoing = (event: JournalEvent): Outgoing => {
  switch (event._tag) {
    case "ReviewRequested":
      return send(startTurn(event))
    case "ReviewerForgotten":
      return send(endSession(event))
    case "ReviewStarted":
    case "VerdictReached":
    case "ReviewFailed":
      return publish(event)
  }
}

export const react = (_review: ReviewState, events: ReadonlyArray<JournalEvent>): ReadonlyArray<Outgoing> =>
  events.map(outgoing)
