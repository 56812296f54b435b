/** What the end of a session means for a run, and that one was seen. */
import { defined } from "@reprise/protocol"
import { endWithSession, isEnded } from "../run/end.ts"
import type { InputOf } from "../run/inputs.ts"
import type { EventOf, RunEvents } from "../run/journal.ts"
import { withoutSession } from "../run/question.ts"
import { livesInSession } from "../run/standalone.ts"
import type { Run } from "../run/state.ts"

export type SessionEnd = InputOf<
  "SessionExpired" | "SessionCompleted" | "SessionAborted" | "SessionFailed" | "SessionArchived"
>

export const endings: Readonly<Record<SessionEnd["_tag"], string>> = {
  SessionExpired: "the session has expired",
  SessionCompleted: "the session was completed",
  SessionAborted: "the session was aborted",
  SessionFailed: "the session has failed",
  SessionArchived: "the session was archived"
}

/** A session that has ended can be neither continued nor opened: an open question that names it is changed. */
export const sessionEnded = (run: Run, { _tag, sessionId }: SessionEnd): RunEvents => {
  const { pending, phase, working } = run
  if (livesInSession(run)) return isEnded(run) ? [] : endWithSession(run, endings[_tag])
  const alive = phase?.sessions.includes(sessionId) === true
  const author = phase?.author?.sessionId === sessionId ? phase.author : undefined
  // That it was ended on the host that is gone says nothing about the host on which it goes on.
  if (author?.state === "moved") return []
  const newest = author !== undefined && author.state !== "ended"
  const why = endings[_tag]
  const question = pending._tag === "Answer" ? withoutSession(pending.question, sessionId, why) : undefined
  return [
    ...(alive || newest ? [{ _tag: "SessionLost" as const, sessionId, why }] : []),
    // Nobody works any more in a reviewer's session that has ended either.
    ...(working.includes(sessionId) ? [{ _tag: "WorkSeen" as const, sessionId, working: false }] : []),
    ...(question === undefined ? [] : [{ _tag: "QuestionChanged" as const, question }])
  ]
}

/** Some failures of a turn end a standalone session, and its run with it. */
export const endedWithTurn = (run: Run, event: InputOf<"TurnCompleted" | "TurnFailed">): RunEvents =>
  livesInSession(run) && event._tag === "TurnFailed" && event.sessionEnded === true
    ? endWithSession(run, event.message)
    : []

export const sessionSeen = (
  kind: EventOf<"SessionSeen">["kind"],
  { reason, sessionId, turnId }: Pick<EventOf<"SessionSeen">, "sessionId" | "turnId" | "reason">
): RunEvents => [
  {
    _tag: "SessionSeen",
    kind,
    sessionId,
    ...defined({ turnId, reason })
  }
]

export const noteResting = ({ working }: Run, { sessionId }: Pick<InputOf<"AgentIdle">, "sessionId">): RunEvents =>
  working.includes(sessionId) ? [{ _tag: "WorkSeen", sessionId, working: false }] : []

/**
 * A turn of ours has taken over what somebody did in its session, whose end is never told then. That they work can be
 * told after the turn was asked for, but not after a sign of the turn: a session tells its events in order.
 */
export const noteTakenOver = (run: Run, { sessionId }: Pick<InputOf<"TurnCompleted">, "sessionId">): RunEvents =>
  noteResting(run, { sessionId })
