/** What a Review actor sends: turns to the session-manager, its public events to everybody. */
import { type Outgoing, publish, send } from "@reprise/actor"
import { defined, sessionPrompts, to } from "@reprise/protocol"
import { firstPrompt, followUpPrompt, movedPrompt, resumedPrompt } from "../prompts.ts"
import type { JournalEvent, JournalEventOf } from "./journal.ts"
import type { ReviewState } from "./state.ts"

/** What is asked of a session that exists, and why it is used again; undefined: the session is a new one. */
const goingOn = ({ lastReviewed, movedFrom, request, resumed, told = [] }: JournalEventOf<"ReviewRequested">) => {
  if (movedFrom !== undefined) return { prompt: movedPrompt(request), reason: "host-gone", movedFrom }
  if (resumed === "begun") return { prompt: resumedPrompt(request, told), reason: "resume" }
  if (lastReviewed !== undefined) {
    const prompt = followUpPrompt(request, lastReviewed, told)
    return { prompt, reason: resumed === undefined ? "review-cycle" : "resume" }
  }
  return resumed === undefined ? undefined : { prompt: firstPrompt(request), reason: "resume" }
}

const startTurn = (requested: JournalEventOf<"ReviewRequested">) => {
  const { movedFrom, request, sessionId, turnId } = requested
  const known = goingOn(requested)
  const whole = movedFrom === undefined ? firstPrompt(request) : movedPrompt(request)
  return to.sessionManager(sessionId).StartTurn({
    turnId,
    runId: request.runId,
    phase: request.phase,
    step: "REVIEW",
    role: "reviewer",
    onMissing: "fresh",
    runtime: request.runtime,
    ...defined({ model: request.model, variant: request.variant }),
    directory: request.directory,
    host: request.host,
    permissions: request.permissions,
    instructionsFrom: request.base,
    title: `Review of phase ${request.phase}`,
    report: "verdict",
    ...sessionPrompts(request.prompts),
    limits: request.limits,
    ...(known === undefined
      ? { session: { _tag: "New" }, prompt: whole }
      : { session: { _tag: "Existing", sessionId }, ...known, freshPrompt: whole })
  })
}

const endSession = ({ aborted, reason, sessionId }: JournalEventOf<"ReviewerForgotten">) =>
  aborted ? to.sessionManager(sessionId).AbortSession({ reason }) : to.sessionManager(sessionId).CompleteSession()

const outgoing = (event: JournalEvent): ReadonlyArray<Outgoing> => {
  switch (event._tag) {
    case "ReviewRequested":
      return [send(startTurn(event))]
    case "ReviewInterrupted": {
      const { reason, sessionId, turnId } = event
      return [send(to.sessionManager(sessionId).InterruptTurn({ turnId, reason }))]
    }
    case "ReviewerForgotten":
      return [send(endSession(event))]
    case "ReviewerMoved": {
      const { from, sessionId } = event
      return [send(to.sessionManager(sessionId).AbortSession({ reason: `host ${from} is gone`, onHost: from }))]
    }
    case "ReviewerKept":
      return []
    case "ReviewStarted":
    case "VerdictReached":
    case "ReviewFailed":
      return [publish(event)]
  }
}

export const react = (_review: ReviewState, events: ReadonlyArray<JournalEvent>): ReadonlyArray<Outgoing> =>
  events.flatMap(outgoing)
