/** From a turn's request to its first prompt: a runtime session is made, or the existing one is looked at. */
import type { Delivery } from "@reprise/actor"
import { Host } from "@reprise/protocol"
import { Result } from "effect"
import { turnFailed } from "./endTurn.ts"
import type { JournalEvent } from "./events.ts"
import { type Decision, late, nothing, openTurnAt } from "./guards.ts"
import type { SessionReport } from "./messages.ts"
import { planWork } from "./plan.ts"
import { placeOf, type Session } from "./Session.ts"

type Report<Tag extends SessionReport["_tag"]> = Extract<SessionReport, { readonly _tag: Tag }>

/** The id is journalled with this, before anything is sent to the session (sessions: Lifecycle). */
export const recordOpened = (session: Session, report: Report<"RecordOpened">, delivery: Delivery): Decision => {
  const at = openTurnAt(session, report.turnId, "opening")
  if (at === undefined) return nothing
  const { details, turn } = at
  const { runtimeSessionId, turnId } = report
  const place = { ...placeOf(details), turnId }
  const opened: JournalEvent =
    turn.lost === undefined
      ? { _tag: "SessionCreated", ...place, role: details.role, runtime: details.runtime, runtimeSessionId }
      : { _tag: "SessionReplaced", ...place, old: turn.lost.old, new: runtimeSessionId, reason: turn.lost.reason }
  return Result.succeed([
    {
      _tag: "SessionOpened",
      turnId,
      runtimeSessionId,
      host: Host.make(report.host),
      ...(report.context === undefined ? {} : { context: report.context }),
      at: delivery.now
    },
    opened,
    { _tag: "TurnStarted", ...place },
    planWork(report.context === undefined ? turn : { ...turn, earlier: report.context }, delivery)
  ])
}

const lostBecause = {
  missing: "the runtime does not know it any more",
  empty: "it holds no conversation to go on from"
} as const

export const recordInspected = (session: Session, report: Report<"RecordInspected">, delivery: Delivery): Decision => {
  const at = openTurnAt(session, report.turnId, "inspecting")
  if (at === undefined || session.runtimeSessionId === undefined) return nothing
  const { details, turn } = at
  const { runtimeSessionId } = session
  const place = { ...placeOf(details), turnId: report.turnId }
  if (report.found === "usable") {
    return Result.succeed([
      { _tag: "SessionFound", turnId: report.turnId, messages: report.messages, at: delivery.now },
      { _tag: "SessionReused", ...place, runtimeSessionId, reason: turn.request.reason },
      { _tag: "TurnStarted", ...place },
      planWork(turn, delivery)
    ])
  }
  const reason = lostBecause[report.found]
  if (turn.request.onMissing === "fresh") {
    return Result.succeed([{ _tag: "SessionLost", turnId: report.turnId, old: runtimeSessionId, reason }])
  }
  const message = `Session ${details.sessionId} cannot be continued: ${reason}. Go on in a new session.`
  return Result.succeed([
    turnFailed(details, turn, { kind: "session-missing", message, sessionUsable: false }, delivery)
  ])
}

/** Neither opened nor inspected: an existing session may still be sound. */
export const recordUnreachable = (
  session: Session,
  report: Report<"RecordUnreachable">,
  delivery: Delivery
): Decision => {
  const at = openTurnAt(session, report.turnId, "opening") ?? openTurnAt(session, report.turnId, "inspecting")
  if (at === undefined) return late(session, report.turnId)
  const { details, turn } = at
  const failure = {
    kind: report.kind === "other" ? ("runtime" as const) : report.kind,
    message: report.message,
    sessionUsable: turn.stage === "inspecting"
  }
  const seen: JournalEvent =
    report.kind === "gone"
      ? { _tag: "AgentGone", ...placeOf(details, report.turnId) }
      : { _tag: "AgentFailed", ...placeOf(details, report.turnId), kind: report.kind, message: report.message }
  return Result.succeed([seen, turnFailed(details, turn, failure, delivery)])
}
