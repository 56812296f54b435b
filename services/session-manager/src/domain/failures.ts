/** A prompt that failed: what is waited for, and what ends the turn (sessions: Turns, rate limit; run-machine). */
import type { Delivery } from "@reprise/actor"
import type { FailureKind } from "@reprise/protocol"
import { Result } from "effect"
import type { ErrorKind } from "./actions/Action.ts"
import { afterProgress, type Chosen, chooseAction } from "./actions/chooseAction.ts"
import { taken, triedFor } from "./actions/taken.ts"
import { mostActions, promptEnded, turnWith, workedSince } from "./answers.ts"
import { type Failure, gaveUp, turnFailed } from "./endTurn.ts"
import type { JournalEvent } from "./events.ts"
import { type AtPrompt, type Decision, late, nothing, openPromptAt, openTurnAt } from "./guards.ts"
import type { SessionReport, SessionTimer } from "./messages.ts"
import { type OpenTurn, placeOf, type Session } from "./Session.ts"
import type { SessionSettings } from "./settings.ts"

type RecordFailed = Extract<SessionReport, { readonly _tag: "RecordFailed" }>
type RecordRecovering = Extract<SessionReport, { readonly _tag: "RecordRecovering" }>

const kindOf = {
  rate_limited: "rate_limited",
  out_of_credits: "out_of_credits",
  no_internet: "no_internet",
  unauthorized: "unauthorized",
  timeout: "timeout",
  budget: "turn-limit",
  "session-missing": "session-missing",
  gone: "gone",
  aborted: "aborted",
  other: "runtime"
} as const satisfies Record<RecordFailed["kind"], FailureKind>

/** What actions are configured for. The other kinds are limits and ends, about which nothing can be done. */
type Cause = "gone" | ErrorKind

const causes: ReadonlyArray<RecordFailed["kind"]> = [
  "gone",
  "rate_limited",
  "out_of_credits",
  "no_internet",
  "unauthorized",
  "other"
]
const isCause = (kind: RecordFailed["kind"]): kind is Cause => causes.includes(kind)

export const recordFailed = (
  session: Session,
  report: RecordFailed,
  delivery: Delivery,
  settings: SessionSettings
): Decision => {
  const open = openPromptAt(session, report)
  if (open === undefined) return late(session, report.turnId)
  const { kind, message } = report
  const ended = promptEnded(report, delivery)
  const at = { ...open, turn: turnWith(session, ended, open.turn) }
  const { details, turn } = at
  const failure: Failure = { kind: kindOf[kind], message, sessionUsable: isUsable(report) }
  const chosen = isCause(kind) ? choose(session, at, report, kind, delivery, settings) : undefined
  if (isCause(kind) && (chosen?.action === "wait" || chosen?.action === "continue")) {
    return Result.succeed(goOn(session, at, report, kind, chosen, delivery, settings))
  }
  if (chosen?.action === "fail") {
    return Result.succeed([ended, ...seen(at, report), ...gaveUp(details, turn, failure, delivery)])
  }
  return Result.succeed([
    ended,
    ...seen(at, report),
    turnFailed(details, turn, failure, delivery),
    // A session that was stopped for its silence is never offered for continue (run-machine: turn timed out).
    ...(kind === "timeout" && details.standalone !== true
      ? [{ _tag: "SessionAborted" as const, ...placeOf(details), reason: message }]
      : [])
  ])
}

/** What passes by itself says nothing of the session, whatever the runtime makes of it. */
const passing: ReadonlyArray<RecordFailed["kind"]> = ["rate_limited", "out_of_credits", "no_internet"]

const isUsable = ({ kind, sessionUsable }: RecordFailed): boolean =>
  passing.includes(kind) || (sessionUsable && kind !== "timeout" && kind !== "session-missing")

/** What everybody is told of a failure, once for each kind in a row. */
const seen = ({ details, turn }: AtPrompt, { kind, message }: RecordFailed): ReadonlyArray<JournalEvent> => {
  const place = placeOf(details, turn.request.turnId)
  if (kind === "gone") return [{ _tag: "AgentGone", ...place }]
  return !isCause(kind) || turn.failing === kind ? [] : [{ _tag: "AgentFailed", ...place, kind, message }]
}

const choose = (
  session: Session,
  { turn }: AtPrompt,
  report: RecordFailed,
  kind: Cause,
  delivery: Delivery,
  settings: SessionSettings
): Chosen => {
  const { onError, onGone } = settings.actions
  const trigger = kind === "gone" ? kind : (`error.${kind}` as const)
  const tried = afterProgress(triedFor(session, trigger), workedSince(report), delivery.now)
  const waited = turn.waitedMs + (report.waitedMs ?? 0) + waitMsOf(turn, report, settings)
  return chooseAction<Chosen["action"]>(kind === "gone" ? onGone : onError[kind], tried, delivery.now, (action) => {
    if (action === "wait") return waited <= settings.maxWaitMs
    return action !== "continue" || (isUsable(report) && session.actions < mostActions)
  })
}

/** As the runtime says, else from half a minute to half an hour, doubling. */
const waitMsOf = (turn: OpenTurn, report: RecordFailed, settings: SessionSettings): number =>
  Math.max(
    report.retryAfterMs ?? Math.min(settings.firstWaitMs * 2 ** turn.waits, settings.longestWaitMs),
    Math.min(1000, settings.firstWaitMs)
  )

/** The prompt has not ended: it is sent again, at once or later, and its outcome holds what it has used by then. */
const goOn = (
  session: Session,
  at: AtPrompt,
  report: RecordFailed,
  kind: Cause,
  chosen: Chosen,
  delivery: Delivery,
  settings: SessionSettings
): ReadonlyArray<JournalEvent> => {
  const { details, prompt, turn } = at
  const { turnId } = turn.request
  const { attempt, delayMs, place } = chosen
  const waiting = { _tag: "TurnWaiting" as const, turnId, number: prompt.number, kind, at: delivery.now }
  if (chosen.action === "wait") {
    const waitMs = Math.max(waitMsOf(turn, report, settings), delayMs)
    return [...seen(at, report), { ...waiting, waitMs, place, attempt }]
  }
  const trigger = kind === "gone" ? kind : (`error.${kind}` as const)
  return [
    ...seen(at, report),
    ...taken(session, details, trigger, chosen, delivery.now),
    delayMs > 0
      ? { ...waiting, waitMs: delayMs }
      : { _tag: "PromptRetried", turnId, number: prompt.number, at: delivery.now }
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
  const { number, turnId } = timer
  const first = at.turn.heldBack ? { first: true } : {}
  return Result.succeed([{ _tag: "PromptRetried", turnId, number, ...first, at: delivery.now }])
}
