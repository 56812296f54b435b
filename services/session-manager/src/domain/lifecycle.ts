/** How a session is let go: by command, or by itself when nobody uses it (sessions: Lifecycle). */
import type { Delivery } from "@reprise/actor"
import type { SessionCommand } from "@reprise/protocol"
import { Result } from "effect"
import { turnFailed } from "./endTurn.ts"
import type { JournalEvent } from "./events.ts"
import { type Decision, nothing, refuse } from "./guards.ts"
import { holdOf } from "./holds.ts"
import type { SessionTimer } from "./messages.ts"
import { hasEnded, placeOf, type Session } from "./Session.ts"

type Command<Tag extends SessionCommand["_tag"]> = Extract<SessionCommand, { readonly _tag: Tag }>
type Timer<Tag extends SessionTimer["_tag"]> = Extract<SessionTimer, { readonly _tag: Tag }>

/** Of what somebody wants of a session that has ended. What was to be tidied up is, so completing it is no matter. */
const over = ({ status }: Session, sessionId: string, wanted: string): Decision =>
  refuse(`Session ${sessionId} is ${status}: there is nothing to ${wanted}.`)

const noSuch = (sessionId: string): Decision => refuse(`There is no session ${sessionId}.`)

/** Its open turn fails with it: whoever waits for that turn is told. */
export const abortSession = (session: Session, command: Command<"AbortSession">, delivery: Delivery): Decision => {
  const { details, turn } = session
  if (details === undefined) return noSuch(command.sessionId)
  if (hasEnded(session)) return over(session, command.sessionId, "abort")
  const { reason } = command
  const ends: ReadonlyArray<JournalEvent> =
    turn === undefined
      ? []
      : [turnFailed(details, turn, { kind: "aborted", message: reason, sessionUsable: false }, delivery)]
  return Result.succeed([...ends, { _tag: "SessionAborted", ...placeOf(details, turn?.request.turnId), reason }])
}

export const completeSession = (session: Session, command: Command<"CompleteSession">): Decision => {
  const { details, turn } = session
  if (details === undefined) return noSuch(command.sessionId)
  if (hasEnded(session)) return nothing
  if (turn !== undefined) return refuse(`Turn ${turn.request.turnId} is under way: wait for it, or abort the session.`)
  return Result.succeed([{ _tag: "SessionCompleted", ...placeOf(details) }])
}

export const expireSession = (session: Session, command: Command<"ExpireSession">): Decision => {
  const { details, turn } = session
  if (details === undefined) return noSuch(command.sessionId)
  if (hasEnded(session)) return over(session, command.sessionId, "expire")
  if (turn !== undefined) return refuse(`Turn ${turn.request.turnId} is under way: it cannot expire now.`)
  return Result.succeed([{ _tag: "SessionExpired", ...placeOf(details) }])
}

const unused = (session: Session, activity: number): boolean =>
  session.activity === activity && session.turn === undefined && !session.foreign

export const pauseIdle = (session: Session, timer: Timer<"PauseIdle">): Decision => {
  const { details, status } = session
  if (details === undefined || !unused(session, timer.activity)) return nothing
  return status === "active" || status === "created"
    ? Result.succeed([{ _tag: "SessionPaused", ...placeOf(details) }])
    : nothing
}

export const expireIdle = (session: Session, timer: Timer<"ExpireIdle">): Decision => {
  const { details, status } = session
  if (details === undefined || status !== "paused" || !unused(session, timer.activity)) return nothing
  return holdOf(session) !== undefined ? nothing : Result.succeed([{ _tag: "SessionExpired", ...placeOf(details) }])
}
