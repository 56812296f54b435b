/** A prompt that failed: what is waited for, and what ends the turn (sessions: Turns, rate limit; run-machine). */
import type { Delivery } from "@reprise/actor"
import type { FailureKind } from "@reprise/protocol"
import { Result } from "effect"
import { promptEnded, turnWith } from "./answers.ts"
import { type Failure, turnFailed } from "./endTurn.ts"
import type { JournalEvent } from "./events.ts"
import { type AtPrompt, type Decision, late, nothing, openPromptAt, openTurnAt } from "./guards.ts"
import type { SessionReport, SessionTimer } from "./messages.ts"
import { type OpenTurn, placeOf, type Session } from "./Session.ts"
import type { SessionSettings } from "./settings.ts"

type RecordFailed = Extract<SessionReport, { readonly _tag: "RecordFailed" }>
type RecordRecovering = Extract<SessionReport, { readonly _tag: "RecordRecovering" }>
type Passing = "rate_limited" | "out_of_credits" | "no_internet"

const isPassing = (kind: RecordFailed["kind"]): kind is Passing =>
  kind === "rate_limited" || kind === "out_of_credits" || kind === "no_internet"

const kindOf = {
  unauthorized: "unauthorized",
  timeout: "timeout",
  budget: "turn-limit",
  "session-missing": "session-missing",
  gone: "gone",
  aborted: "aborted",
  other: "runtime"
} as const satisfies Record<Exclude<RecordFailed["kind"], Passing>, FailureKind>

export const recordFailed = (
  session: Session,
  report: RecordFailed,
  delivery: Delivery,
  settings: SessionSettings
): Decision => {
  const at = openPromptAt(session, report)
  if (at === undefined) return late(session, report.turnId)
  const ended = promptEnded(report, delivery)
  const turn = turnWith(session, ended, at.turn)
  if (isPassing(report.kind)) {
    return Result.succeed(waitOrFail({ ...at, turn }, report, report.kind, delivery, settings, ended))
  }
  const failure: Failure = {
    kind: kindOf[report.kind],
    message: report.message,
    sessionUsable: report.sessionUsable && report.kind !== "timeout" && report.kind !== "session-missing"
  }
  return Result.succeed([
    ended,
    ...seenBefore(at, report),
    turnFailed(at.details, turn, failure, delivery),
    // A session that was stopped for its silence is never offered for continue (run-machine: turn timed out).
    ...(report.kind === "timeout"
      ? [{ _tag: "SessionAborted" as const, ...placeOf(at.details), reason: report.message }]
      : [])
  ])
}

const seenBefore = ({ details, turn }: AtPrompt, report: RecordFailed): ReadonlyArray<JournalEvent> => {
  const place = placeOf(details, turn.request.turnId)
  if (report.kind === "gone") return [{ _tag: "AgentGone", ...place }]
  if (report.kind === "unauthorized" || report.kind === "other") {
    return [{ _tag: "AgentFailed", ...place, kind: report.kind, message: report.message }]
  }
  return []
}

/** As the runtime says, else from half a minute to half an hour, doubling. */
const waitMsOf = (turn: OpenTurn, report: RecordFailed, settings: SessionSettings): number =>
  Math.max(
    report.retryAfterMs ?? Math.min(settings.firstWaitMs * 2 ** turn.waits, settings.longestWaitMs),
    Math.min(1000, settings.firstWaitMs)
  )

/** These are not failures of the work: the turn waits and goes on in the same session, within bounds. */
const waitOrFail = (
  at: AtPrompt,
  report: RecordFailed,
  kind: Passing,
  delivery: Delivery,
  settings: SessionSettings,
  ended: JournalEvent
): ReadonlyArray<JournalEvent> => {
  const { details, turn } = at
  const waitMs = waitMsOf(turn, report, settings)
  const { message } = report
  const seen: ReadonlyArray<JournalEvent> =
    turn.failing === kind ? [] : [{ _tag: "AgentFailed", ...placeOf(details, turn.request.turnId), kind, message }]
  if (turn.waitedMs + (report.waitedMs ?? 0) + waitMs > settings.maxWaitMs) {
    return [ended, ...seen, turnFailed(details, turn, { kind, message, sessionUsable: true }, delivery)]
  }
  // The prompt has not ended: it will be sent again, and its outcome holds what it has used by then.
  return [
    ...seen,
    { _tag: "TurnWaiting", turnId: turn.request.turnId, number: at.prompt.number, kind, waitMs, at: delivery.now }
  ]
}

/** The runtime itself waits and tries again: shown once, and nothing else is done about it. */
export const recordRecovering = (session: Session, report: RecordRecovering): Decision => {
  const at = openPromptAt(session, report)
  if (at === undefined || at.turn.failing === report.kind) return nothing
  const { kind, message, turnId } = report
  return Result.succeed([{ _tag: "AgentFailed", ...placeOf(at.details, turnId), kind, message }])
}

/** The wait is over. */
export const retryPrompt = (
  session: Session,
  timer: Extract<SessionTimer, { readonly _tag: "RetryPrompt" }>,
  delivery: Delivery
): Decision => {
  const at = openTurnAt(session, timer.turnId, "waiting")
  const prompt = at?.turn.prompt
  if (at === undefined || prompt?.number !== timer.number) return nothing
  return Result.succeed([{ _tag: "PromptRetried", turnId: timer.turnId, number: timer.number, at: delivery.now }])
}
