/**
 * How a session ends: by command, or by itself when nobody uses it. Its conversation is saved when it is paused and
 * archived when it has ended (docs/design/sessions.md#lifecycle).
 */
import type { Delivery, Refusal } from "@reprise/actor"
import type { SessionCommand } from "@reprise/protocol"
import { Result } from "effect"
import { type Decision, nothing, refuse } from "../actor/guards.ts"
import type { Report, Timer } from "../actor/inputs.ts"
import type { EventOf, JournalEvent, SessionDetails } from "../actor/journal.ts"
import { eventFields, hasEnded, holdOf, type OpenTurn, type Session } from "../actor/state.ts"
import { turnFailed } from "../turn/endTurn.ts"
import { countOthers } from "../turn/usage.ts"

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

export const abortSession = (session: Session, command: Command<"AbortSession">, delivery: Delivery): Decision =>
  Result.map(requireLive(session, command.sessionId, "abort"), (details) =>
    abortNow(session, details, command.reason, delivery)
  )

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

export const expireIdle = (session: Session, timer: Timer<"ExpireIdle">): Decision => {
  const { details, status } = session
  if (details === undefined || status !== "paused" || !unusedSince(session, timer)) return nothing
  return holdOf(session) === undefined ? Result.succeed([{ _tag: "SessionExpired", ...eventFields(details) }]) : nothing
}

/** The object's name holds the runtime's id: a replaced runtime session keeps its conversation beside the new one's. */
export const transcriptOf = (sessionId: string, runtimeSessionId: string): string =>
  `session/${sessionId}/${runtimeSessionId}`

/** A conversation that was saved after its runtime session was replaced is kept, and not this session's any more. */
export const recordArchived = (session: Session, report: Report<"RecordArchived">, delivery: Delivery): Decision => {
  const { details, runtimeSessionId } = session
  if (details === undefined || runtimeSessionId === undefined) return nothing
  const { messages, object, total } = report
  if (object !== transcriptOf(details.sessionId, runtimeSessionId)) return nothing
  const saved = { _tag: "TranscriptSaved" as const, object, messages, at: delivery.now }
  return hasEnded(session)
    ? Result.succeed([
        saved,
        ...countOthers(session, details, total),
        { _tag: "SessionArchived", ...eventFields(details), object, messages }
      ])
    : Result.succeed([saved, ...countOthers(session, details, total)])
}

type LifecycleEvent = EventOf<
  "SessionAborted" | "SessionCompleted" | "SessionExpired" | "SessionFailed" | "SessionPaused" | "TranscriptSaved"
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
    case "TranscriptSaved":
      return { ...session, saved: { object: event.object, at: event.at } }
  }
}
