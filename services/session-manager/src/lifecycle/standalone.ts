/**
 * A standalone session belongs to a run that nobody sees: the orchestrator's, with the session's id
 * (docs/design/sessions.md#standalone-sessions). Here it starts, and shows the question that its run asks.
 */
import type { Delivery } from "@reprise/actor"
import { defined, RunId, type SessionCommand } from "@reprise/protocol"
import { Equal, Result } from "effect"
import { type Decision, nothing, refuse, requireAbsoluteDirectory } from "../session/guards.ts"
import type { GateEvent } from "../session/inputs.ts"
import type { EventOf, SessionDetails } from "../session/journal.ts"
import { hasEnded, type Session, usedAt } from "../session/state.ts"

type StartSession = Extract<SessionCommand, { readonly _tag: "StartSession" }>

/** The same command again changes nothing; another task under the same id is refused. */
export const startSession = (session: Session, command: StartSession, delivery: Delivery): Decision => {
  const { directory, fork, prompt, sessionId } = command
  if (session.status !== "unknown") {
    return session.task === prompt && Equal.equals(session.fork, fork)
      ? nothing
      : refuse(
          "exists",
          `Session ${sessionId} exists already (${session.status}): a new session needs an id of its own.`
        )
  }
  if (prompt.trim() === "") return refuse("invalid", "The prompt is empty: say what the session is to do.")
  return Result.map(requireAbsoluteDirectory(directory), () => [
    { _tag: "StandaloneRequested", command, at: delivery.now }
  ])
}

export const questionRaised = (session: Session, { escalationId }: GateEvent): Decision =>
  session.task === undefined || hasEnded(session) || session.escalationId === escalationId
    ? nothing
    : Result.succeed([{ _tag: "QuestionRaised", escalationId }])

export const questionClosed = (session: Session, { escalationId }: GateEvent): Decision =>
  session.escalationId === escalationId ? Result.succeed([{ _tag: "QuestionClosed", escalationId }]) : nothing

const detailsOf = ({ _tag, fork, prompt, sessionId, stuckAfterMs, ...setup }: StartSession): SessionDetails => ({
  ...setup,
  sessionId,
  runId: RunId.make(sessionId),
  role: "author",
  title: sessionId,
  report: "author-status",
  wholePrompt: prompt
})

type StandaloneEvent = EventOf<"StandaloneRequested" | "QuestionRaised" | "QuestionClosed">

/** The fold of what only standalone sessions have. */
export const evolveStandalone = (session: Session, event: StandaloneEvent): Session => {
  switch (event._tag) {
    case "StandaloneRequested": {
      const { at, command } = event
      const { fork, prompt: task } = command
      return {
        ...usedAt(session, at),
        status: "requested",
        details: detailsOf(command),
        task,
        ...defined({ fork }),
        createdAt: at
      }
    }
    case "QuestionRaised":
      return { ...session, escalationId: event.escalationId }
    case "QuestionClosed":
      return { ...session, escalationId: undefined }
  }
}
