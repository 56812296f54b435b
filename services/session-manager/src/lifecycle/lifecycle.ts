/** How a session ends: by command, or by itself when nobody uses it (docs/design/sessions.md#lifecycle). */
import type { Delivery, Refusal } from "@reprise/actor"
import { defined, type SessionCommand } from "@reprise/protocol"
import { Result } from "effect"
import { type Decision, nothing, refuse } from "../session/guards.ts"
import type { Timer } from "../session/inputs.ts"
import type { EventOf, JournalEvent, SessionDetails } from "../session/journal.ts"
import { eventFields, hasEnded, holdOf, type OpenTurn, type Session } from "../session/state.ts"
import { turnFailed } from "../turn/endTurn.ts"
import { savedBy } from "./transcript.ts"

type Command<Tag extends SessionCommand["_tag"]> = Extract<SessionCommand, { readonly _tag: Tag }>

const requireSession = ({ details }: Session, sessionId: string): Result.Result<SessionDetails, Refusal> =>
  details === undefined ? refuse("not-found", `There is no session ${sessionId}.`) : Result.succeed(details)

const requireLive = (session: Session, sessionId: string, wanted: string): Result.Result<SessionDetails, Refusal> =>
  Result.flatMap(requireSession(session, sessionId), (details) =>
    hasEnded(session)
      ? refuse("ended", `Session ${sessionId} is ${session.status}: there is nothing to ${wanted}.`)
      : Result.succeed(details)
  )

const refuseDuringTurn = ({ request }: OpenTurn, next: string) =>
  refuse("busy", `Turn ${request.turnId} is under way: ${next}.`)

/** The open turn fails with its session, so that whoever waits for the turn is told. */
export const abortNow = (
  { turn }: Session,
  details: SessionDetails,
  reason: string,
  delivery: Delivery
): ReadonlyArray<JournalEvent> => {
  const aborted: JournalEvent = { _tag: "SessionAborted", ...eventFields(details, turn?.request.turnId), reason }
  if (turn === undefined) return [aborted]
  return [
    turnFailed(details, turn, { kind: "aborted", message: reason, sessionUsable: false, sessionEnded: true }, delivery),
    aborted
  ]
}

export const abortSession = (session: Session, command: Command<"AbortSession">, delivery: Delivery): Decision => {
  const { onHost, reason, sessionId } = command
  // It goes on elsewhere already.
  if (onHost !== undefined && session.details !== undefined && session.details.host !== onHost) return nothing
  return Result.map(requireLive(session, sessionId, "abort"), (details) => abortNow(session, details, reason, delivery))
}

/** A session that has ended already is as good as completed. */
export const completeSession = (session: Session, command: Command<"CompleteSession">): Decision =>
  Result.flatMap(requireSession(session, command.sessionId), (details): Decision => {
    if (hasEnded(session)) return nothing
    if (session.turn !== undefined) return refuseDuringTurn(session.turn, "wait for it, or abort the session")
    return Result.succeed([{ _tag: "SessionCompleted", ...eventFields(details) }])
  })

export const expireSession = (session: Session, command: Command<"ExpireSession">): Decision =>
  Result.flatMap(
    requireLive(session, command.sessionId, "expire"),
    (details): Decision =>
      session.turn !== undefined
        ? refuseDuringTurn(session.turn, "the session cannot expire now")
        : Result.succeed([{ _tag: "SessionExpired", ...eventFields(details) }])
  )

const unusedSince = (session: Session, { useCount }: { readonly useCount: number }): boolean =>
  session.useCount === useCount && session.turn === undefined && !session.workingOutsideTurn

export const pauseIdle = (session: Session, timer: Timer<"PauseIdle">): Decision => {
  const { details, status } = session
  if (details === undefined || !unusedSince(session, timer)) return nothing
  return status === "active" || status === "created"
    ? Result.succeed([{ _tag: "SessionPaused", ...eventFields(details) }])
    : nothing
}

/**
 * What a phase or a question may need is kept for longer, but not forever. While a turn is open, or somebody works in
 * it, a session never expires.
 */
export const expireIdle = (session: Session, timer: Timer<"ExpireIdle">): Decision => {
  const { details, status } = session
  if (details === undefined || status !== "paused" || !unusedSince(session, timer)) return nothing
  return holdOf(session) === undefined || timer.held === true
    ? Result.succeed([{ _tag: "SessionExpired", ...eventFields(details) }])
    : nothing
}

/** It expires by itself: no run continues it any more, but a human may still work in it. */
export const releaseSession = (session: Session, delivery: Delivery): Decision =>
  session.details === undefined || hasEnded(session) || session.released
    ? nothing
    : Result.succeed([{ _tag: "SessionReleased", at: delivery.now }])

type LifecycleEvent = EventOf<
  | "SessionAborted"
  | "SessionArchived"
  | "SessionCompleted"
  | "SessionExpired"
  | "SessionFailed"
  | "SessionPaused"
  | "SessionReleased"
  | "TranscriptSaved"
>

/** A session that has ended waits for no answer. */
const endedAs = (session: Session, status: Session["status"]): Session => ({
  ...session,
  status,
  agentQuestions: [],
  escalationId: undefined
})

/** The fold of a session's life. */
export const evolveLifecycle = (session: Session, event: LifecycleEvent): Session => {
  switch (event._tag) {
    case "SessionPaused":
      return { ...session, status: "paused" }
    case "SessionExpired":
      return endedAs(session, "expired")
    case "SessionCompleted":
      return endedAs(session, "completed")
    case "SessionFailed":
      return { ...endedAs(session, "failed"), lastStopReason: event.reason }
    case "SessionAborted":
      return { ...endedAs(session, "aborted"), lastStopReason: `aborted: ${event.reason}` }
    case "SessionReleased":
      return { ...session, released: true }
    case "TranscriptSaved":
      return {
        ...session,
        ...defined({ model: event.model }),
        saved: savedBy(session, event)
      }
    case "SessionArchived":
      return { ...session, archived: true }
  }
}
