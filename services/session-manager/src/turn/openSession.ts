/** From a turn's request to its first prompt: a runtime session is opened, or the existing one is inspected. */
import type { Delivery } from "@reprise/actor"
import { defined, Host } from "@reprise/protocol"
import { Result } from "effect"
import { currentTurn, type Decision, nothing, refuseOutdated } from "../session/guards.ts"
import type { Report } from "../session/inputs.ts"
import type { JournalEvent } from "../session/journal.ts"
import { eventFields, type Session } from "../session/state.ts"
import { countOthers } from "../session/usage.ts"
import type { SessionSettings } from "../settings.ts"
import { turnAndSessionFailed, turnFailed } from "./endTurn.ts"
import { nextWork } from "./nextPrompt.ts"
import { mayReplace } from "./replace.ts"

/** The runtime's id is journalled before anything is sent to the session (docs/design/sessions.md#lifecycle). */
export const recordOpened = (
  session: Session,
  report: Report<"RecordOpened">,
  delivery: Delivery,
  settings: SessionSettings
): Decision => {
  const current = currentTurn(session, report.turnId, "opening")
  if (current === undefined) return nothing
  const { details, turn } = current
  const { context, forkTold, inherited, promptId, runtimeSessionId, turnId, uncommitted } = report
  const told = forkTold === undefined ? {} : { forkTold }
  const fields = { ...eventFields(details), turnId }
  const opened: JournalEvent =
    turn.lost === undefined
      ? { _tag: "SessionCreated", ...fields, role: details.role, runtime: details.runtime, runtimeSessionId, ...told }
      : { _tag: "SessionReplaced", ...fields, old: turn.lost.old, new: runtimeSessionId, reason: turn.lost.reason }
  return Result.succeed([
    {
      _tag: "SessionOpened",
      turnId,
      runtimeSessionId,
      host: Host.make(report.host),
      ...defined({ context }),
      ...told,
      ...defined({ inherited, promptId }),
      at: delivery.now
    },
    opened,
    { _tag: "TurnStarted", ...fields },
    nextWork(
      context === undefined ? turn : { ...turn, earlierConversation: context },
      details,
      delivery,
      settings,
      uncommitted
    )
  ])
}

const lostBecause = {
  missing: "the runtime does not know it any more",
  empty: "it holds no conversation that could be continued"
} as const

export const recordInspected = (
  session: Session,
  report: Report<"RecordInspected">,
  delivery: Delivery,
  settings: SessionSettings
): Decision => {
  const current = currentTurn(session, report.turnId, "inspecting")
  const { runtimeSessionId } = session
  if (current === undefined || runtimeSessionId === undefined) return nothing
  const { details, turn } = current
  const { found, messages, total, turnId } = report
  if (found === "usable") {
    const fields = { ...eventFields(details), turnId }
    return Result.succeed([
      ...countOthers(session, details, total),
      { _tag: "SessionFound", turnId, messages, at: delivery.now },
      { _tag: "SessionReused", ...fields, runtimeSessionId, reason: turn.request.reason },
      { _tag: "TurnStarted", ...fields },
      nextWork(turn, details, delivery, settings)
    ])
  }
  const reason = lostBecause[found]
  if (mayReplace(session, turn.request)) {
    return Result.succeed([{ _tag: "SessionLost", turnId, old: runtimeSessionId, reason }])
  }
  const message = `Session ${details.sessionId} cannot be continued: ${reason}. Continue in a new session.`
  return Result.succeed([
    turnFailed(details, turn, { kind: "session-missing", message, sessionUsable: false }, delivery)
  ])
}

/** An existing session that could not be inspected may still be sound. */
export const recordUnreachable = (
  session: Session,
  report: Report<"RecordUnreachable">,
  delivery: Delivery
): Decision => {
  const current = currentTurn(session, report.turnId, "opening") ?? currentTurn(session, report.turnId, "inspecting")
  if (current === undefined) return refuseOutdated(session, report.turnId)
  const { details, turn } = current
  const { forGood = false, kind, message, turnId } = report
  if (forGood)
    return Result.succeed(turnAndSessionFailed(details, turn, { kind, message, sessionUsable: false }, delivery))
  const fields = eventFields(details, turnId)
  // A session that never opened has failed; a standalone one may start over.
  const ended = turn.stage === "opening" && session.task === undefined
  const announced: JournalEvent =
    kind === "gone"
      ? { _tag: "AgentGone", ...fields }
      : { _tag: "AgentFailed", ...fields, kind: kind === "unauthorized" ? kind : "other", message }
  return Result.succeed([
    announced,
    turnFailed(
      details,
      turn,
      { kind, message, sessionUsable: turn.stage === "inspecting", ...(ended ? { sessionEnded: true } : {}) },
      delivery
    )
  ])
}
