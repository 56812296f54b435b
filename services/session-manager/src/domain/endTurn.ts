/** The ends that a turn can have. */
import type { Delivery } from "@reprise/actor"
import { type FailureKind, noTokens } from "@reprise/protocol"
import type { Report } from "./decodeReport.ts"
import type { EventOf, JournalEvent, SessionDetails, TurnRequest } from "./events.ts"
import { type OpenTurn, placeOf } from "./Session.ts"

const usageOf = (turn: OpenTurn, delivery: Delivery) => ({
  tokens: turn.tokens,
  cost: turn.cost,
  duration: Math.max(0, Date.parse(delivery.now) - Date.parse(turn.startedAt)),
  attempts: Math.max(1, turn.attempts),
  ...(turn.lastLines === undefined ? {} : { lastLines: turn.lastLines })
})

const fieldsOf = ({ kind: _kind, ...fields }: Report) => fields

export const turnCompleted = (
  details: SessionDetails,
  turn: OpenTurn,
  report: Report,
  delivery: Delivery
): EventOf<"TurnCompleted"> => ({
  _tag: "TurnCompleted",
  ...placeOf(details),
  turnId: turn.request.turnId,
  report: report.kind,
  ...fieldsOf(report),
  ...usageOf(turn, delivery),
  ...(turn.context === undefined ? {} : { context: turn.context })
})

export interface Failure {
  readonly kind: FailureKind
  readonly message: string
  readonly sessionUsable: boolean
}

export const turnFailed = (
  details: SessionDetails,
  turn: OpenTurn,
  failure: Failure,
  delivery: Delivery
): EventOf<"TurnFailed"> => ({
  _tag: "TurnFailed",
  ...placeOf(details),
  turnId: turn.request.turnId,
  ...failure,
  ...usageOf(turn, delivery)
})

/** As configured: the turn ends, and its session with it. */
export const gaveUp = (
  details: SessionDetails,
  turn: OpenTurn,
  failure: Failure,
  delivery: Delivery
): ReadonlyArray<JournalEvent> => [
  turnFailed(details, turn, { ...failure, sessionUsable: false }, delivery),
  { _tag: "SessionFailed", ...placeOf(details), reason: failure.message }
]

/** A turn that could not begin: whoever asked is told by the same event as of any other failure. */
export const turnRefused = (
  details: SessionDetails,
  turnId: TurnRequest["turnId"],
  failure: Failure
): EventOf<"TurnFailed"> => ({
  _tag: "TurnFailed",
  ...placeOf(details),
  turnId,
  ...failure,
  tokens: noTokens,
  cost: 0,
  duration: 0,
  attempts: 1
})
