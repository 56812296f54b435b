/** What `sessions list` and `sessions show` tell of a session. */
import { defined, type SessionView } from "@reprise/protocol"
import { vendorOf } from "../session/actions.ts"
import { hasEnded, holdOf, type Session } from "../session/state.ts"

const heldBy = (session: Session): Pick<SessionView, "heldBy"> => {
  const hold = hasEnded(session) ? undefined : holdOf(session)
  return hold === undefined ? {} : { heldBy: hold }
}

/** Until when the open turn waits for the model's vendor; a runtime that is gone is another matter. */
const postponed = ({ turn }: Session): Pick<SessionView, "postponed"> => {
  const { message = "", trigger = "gone", until = "" } = turn?.wait ?? {}
  const kind = vendorOf(trigger)
  return turn?.stage === "waiting" && kind !== undefined ? { postponed: { until, kind, message } } : {}
}

const forkedFrom = ({ fork, forkTold }: Session): Pick<SessionView, "forkedFrom" | "forkTold"> =>
  fork === undefined
    ? {}
    : {
        forkedFrom: { sessionId: fork.sessionId, turn: fork.turn },
        ...defined({ forkTold })
      }

export const viewOf = (session: Session): SessionView | undefined => {
  const { details, status } = session
  if (details === undefined || status === "unknown") return undefined
  const { model = details.model } = session
  const { directory, host, phase, role, runId, runtime, sessionId } = details
  return {
    ...{ sessionId, runId, role, runtime, directory, host, status },
    ...defined({ model, phase, runtimeSessionId: session.runtimeSessionId }),
    ...(session.turn === undefined ? {} : { turnId: session.turn.request.turnId }),
    ...(session.turn?.stage === "interrupting" ? { interrupting: true } : {}),
    ...postponed(session),
    ...defined({ lastPromptId: session.lastPromptId }),
    ...(session.knownPromptIds.length === 0 ? {} : { knownPromptIds: session.knownPromptIds }),
    turns: session.turns,
    messages: session.messages,
    toolCalls: session.toolCalls,
    refusals: session.refusals,
    ...session.used,
    createdAt: session.createdAt,
    lastActivityAt: session.lastActivityAt,
    ...defined({ lastStopReason: session.lastStopReason }),
    permissions: details.permissions,
    ...defined({ prompt: session.task }),
    ...forkedFrom(session),
    ...(session.pastTurns.length === 0 ? {} : { pastTurns: session.pastTurns }),
    ...defined({ escalationId: session.escalationId }),
    ...heldBy(session),
    ...(session.saved === undefined ? {} : { transcript: session.saved.object, savedAt: session.saved.at })
  }
}
