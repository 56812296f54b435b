/**
 * A prompt failed: it is sent again after a wait or at once, as configured, or its turn ends
 * (docs/design/sessions.md#turns).
 */
import type { Delivery } from "@reprise/actor"
import {
  type FailureKind,
  isStandalone,
  passesByItself,
  type SessionCommand,
  type VendorFailure
} from "@reprise/protocol"
import { Duration, Result } from "effect"
import { actionTaken, afterProgress, type ChosenAction, chooseAction, triedFor, triggerOf } from "../session/actions.ts"
import {
  type CurrentPrompt,
  currentPrompt,
  currentTurn,
  type Decision,
  nothing,
  refuse,
  refuseOutdated
} from "../session/guards.ts"
import type { Report, Timer } from "../session/inputs.ts"
import type { EventOf, JournalEvent } from "../session/journal.ts"
import { eventFields, type OpenTurn, type Session } from "../session/state.ts"
import { after, type SessionSettings } from "../settings.ts"
import { type TurnFailure, turnAndSessionFailed, turnFailed } from "./endTurn.ts"
import { usageAdded } from "./evolveTurn.ts"
import { hasWorked, maxActions, promptEnded } from "./promptResults.ts"

type PromptFailed = Report<"RecordPromptFailed">

/** The kinds that actions are configured for. The others are limits and ends, which no action can change. */
type ActionableKind = "gone" | VendorFailure

const actionable = {
  unauthorized: "unauthorized",
  out_of_credits: "out_of_credits",
  rate_limited: "rate_limited",
  no_internet: "no_internet",
  gone: "gone",
  runtime: "other",
  other: "other",
  "invalid-report": undefined,
  timeout: undefined,
  "turn-limit": undefined,
  "session-missing": undefined,
  aborted: undefined
} as const satisfies Record<FailureKind, ActionableKind | undefined>

/** Rate-limit, credit and network failures never make a session unusable, whatever the runtime says. */
const isUsable = ({ kind, sessionUsable }: PromptFailed): boolean =>
  passesByItself(kind) || (sessionUsable && kind !== "timeout" && kind !== "session-missing")

export const recordPromptFailed = (
  session: Session,
  report: PromptFailed,
  delivery: Delivery,
  settings: SessionSettings
): Decision => {
  const current = currentPrompt(session, report)
  if (current === undefined) return refuseOutdated(session, report.turnId)
  const ended = promptEnded(session, report, delivery)
  const at = { ...current, turn: usageAdded(current.turn, ended) }
  const { details, turn } = at
  const { kind, message } = report
  const retryAt =
    report.retryAfterMs === undefined ? {} : { retryAt: after(delivery.now, Duration.millis(report.retryAfterMs)) }
  const failure: TurnFailure = { kind, message, sessionUsable: isUsable(report), ...retryAt }
  const cause = actionable[kind]
  if (cause !== undefined) {
    const chosen = chooseForFailure(session, turn, report, cause, delivery, settings)
    if (chosen.action === "wait" || chosen.action === "continue") {
      const again = sendAgain(session, at, report, cause, chosen, delivery, settings)
      const waiting = again.find((event) => event._tag === "TurnWaiting")
      return Result.succeed([...announce(at, cause, message, waiting), ...again])
    }
    const announced = announce(at, cause, message)
    return Result.succeed(
      chosen.action === "fail"
        ? [ended, ...announced, ...turnAndSessionFailed(details, turn, failure, delivery)]
        : [ended, ...announced, turnFailed(details, turn, failure, delivery)]
    )
  }
  // A session that timed out is never continued: nobody knows what its agent is still doing. A standalone one may start
  // over under its id.
  return kind === "timeout" && !isStandalone(details)
    ? Result.succeed([
        ended,
        turnFailed(details, turn, { ...failure, sessionEnded: true }, delivery),
        { _tag: "SessionAborted", ...eventFields(details), reason: message }
      ])
    : Result.succeed([ended, turnFailed(details, turn, failure, delivery)])
}

/** What is published of a failure: once for each kind in a row, and each time until when the turn waits. */
const announce = (
  { details, turn }: CurrentPrompt,
  cause: ActionableKind,
  message: string,
  waiting?: EventOf<"TurnWaiting">
): ReadonlyArray<JournalEvent> => {
  const fields = eventFields(details, turn.request.turnId)
  if (cause === "gone") return [{ _tag: "AgentGone", ...fields }]
  if (waiting === undefined && turn.announcedFailure === cause) return []
  const until = waiting === undefined ? {} : { until: after(waiting.at, Duration.millis(waiting.waitMs)) }
  return [{ _tag: "AgentFailed", ...fields, kind: cause, message, ...until }]
}

type FailureAction = "wait" | "continue" | "escalate" | "fail"

const chooseForFailure = (
  session: Session,
  turn: OpenTurn,
  report: PromptFailed,
  cause: ActionableKind,
  delivery: Delivery,
  settings: SessionSettings
): ChosenAction<FailureAction> => {
  const { onError, onGone } = settings.actions
  const tried = afterProgress(triedFor(session, triggerOf(cause)), hasWorked(report), delivery.now)
  const waitedMs = turn.waitedMs + (report.waitedMs ?? 0) + waitMsOf(turn, report, settings)
  const configured = cause === "gone" ? onGone : onError[cause]
  return chooseAction<FailureAction>(configured, tried, delivery.now, (action) => {
    if (action === "wait") return waitedMs <= (session.details?.limits.maxWaitMs ?? Duration.toMillis(settings.maxWait))
    return action !== "continue" || (isUsable(report) && session.actionCount < maxActions)
  })
}

const shortestWait = Duration.seconds(1)

/** The runtime says how long to wait; else each wait of a turn is twice as long as the one before, up to a limit. */
const waitMsOf = (
  { waits }: OpenTurn,
  { retryAfterMs }: PromptFailed,
  { firstWait, longestWait }: SessionSettings
): number => {
  const own = Duration.min(Duration.times(firstWait, 2 ** waits), longestWait)
  const asked = retryAfterMs === undefined ? own : Duration.millis(retryAfterMs)
  return Duration.toMillis(Duration.max(asked, Duration.min(shortestWait, firstWait)))
}

/** The same prompt is sent again, at once or later. It has not ended: its outcome will hold all that it has used. */
const sendAgain = (
  session: Session,
  { details, prompt, turn }: CurrentPrompt,
  report: PromptFailed,
  cause: ActionableKind,
  chosen: ChosenAction,
  delivery: Delivery,
  settings: SessionSettings
): ReadonlyArray<JournalEvent> => {
  const { turnId } = turn.request
  const { attempt, delayMs, index } = chosen
  const trigger = triggerOf(cause)
  const { message } = report
  const waiting = { _tag: "TurnWaiting" as const, turnId, number: prompt.number, trigger, message, at: delivery.now }
  if (chosen.action === "wait") {
    return [{ ...waiting, waitMs: Math.max(waitMsOf(turn, report, settings), delayMs), index, attempt }]
  }
  return [
    ...actionTaken(session, details, trigger, chosen, delivery.now),
    delayMs > 0
      ? { ...waiting, waitMs: delayMs }
      : { _tag: "PromptRetried", turnId, number: prompt.number, at: delivery.now }
  ]
}

/** The runtime itself waits and retries: published once, and nothing else is done about it. */
export const recordRecovering = (session: Session, report: Report<"RecordRecovering">): Decision => {
  const current = currentPrompt(session, report)
  if (current === undefined || current.turn.announcedFailure === report.kind) return nothing
  const { kind, message, turnId } = report
  return Result.succeed([{ _tag: "AgentFailed", ...eventFields(current.details, turnId), kind, message }])
}

const retried = ({ delayed, request }: OpenTurn, number: number, { now: at }: Delivery): EventOf<"PromptRetried"> => ({
  _tag: "PromptRetried",
  turnId: request.turnId,
  number,
  ...(delayed ? { first: true } : {}),
  at
})

/** The wait is over. */
export const retryPrompt = (session: Session, timer: Timer<"RetryPrompt">, delivery: Delivery): Decision => {
  const turn = currentTurn(session, timer.turnId, "waiting")?.turn
  if (turn?.prompt?.number !== timer.number || (timer.wait ?? turn.waits) !== turn.waits) return nothing
  return Result.succeed([retried(turn, timer.number, delivery)])
}

type RetryTurn = Extract<SessionCommand, { readonly _tag: "RetryTurn" }>

/** A human has the wait end before its time. */
export const retryTurn = (session: Session, { sessionId, turnId }: RetryTurn, delivery: Delivery): Decision => {
  const { details, turn } = currentTurn(session, turnId, "waiting") ?? {}
  if (details === undefined || turn?.prompt === undefined || turn.wait === undefined) {
    return refuse("not-waiting", `Turn ${turnId} of session ${sessionId} does not wait for the model's vendor.`)
  }
  const leftMs = Date.parse(turn.wait.until) - Date.parse(delivery.now)
  return Result.succeed([
    { _tag: "TurnRetried", ...eventFields(details), turnId },
    { ...retried(turn, turn.prompt.number, delivery), leftMs: Math.max(0, leftMs) }
  ])
}
