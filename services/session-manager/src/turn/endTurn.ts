/** The ends that a turn can have. */
import type { Delivery } from "@reprise/actor"
import { defined, type FailureKind, noUsage } from "@reprise/protocol"
import type { EventOf, JournalEvent, SessionDetails, TurnRequest } from "../session/journal.ts"
import { eventFields, type OpenTurn } from "../session/state.ts"
import type { AgentReport } from "./decodeReport.ts"

/** The fields of a turn's end; whether it is the fixer's is told with what it used. */
const atEnd = (details: SessionDetails) => ({
  ...eventFields(details),
  ...(details.fixer === true ? { fixer: true } : {})
})

const endOf = (turn: OpenTurn, delivery: Delivery) => ({
  ...turn.used,
  duration: Math.max(0, Date.parse(delivery.now) - Date.parse(turn.startedAt)),
  attempts: Math.max(1, turn.attempts),
  ...defined({ context: turn.context, lastLines: turn.lastLines })
})

export const turnCompleted = (
  details: SessionDetails,
  turn: OpenTurn,
  { kind, ...report }: AgentReport,
  delivery: Delivery
): EventOf<"TurnCompleted"> => ({
  _tag: "TurnCompleted",
  ...atEnd(details),
  turnId: turn.request.turnId,
  report: kind,
  ...report,
  ...endOf(turn, delivery)
})

export interface TurnFailure {
  readonly kind: FailureKind
  readonly message: string
  readonly sessionUsable: boolean
  /** The session ends, or has ended. */
  readonly sessionEnded?: true
  /** When the model's vendor wants to be asked again. */
  readonly retryAt?: string
}

/** Whether the turn's words have reached the agent; no field where nobody can tell. */
const promptGiven = ({ given, prompt, workingAnnounced }: OpenTurn): { readonly promptGiven?: boolean } => {
  if (prompt === undefined) return { promptGiven: false }
  if (workingAnnounced || given === true) return { promptGiven: true }
  return given === undefined ? {} : { promptGiven: given }
}

export const turnFailed = (
  details: SessionDetails,
  turn: OpenTurn,
  failure: TurnFailure,
  delivery: Delivery
): EventOf<"TurnFailed"> => ({
  _tag: "TurnFailed",
  ...atEnd(details),
  turnId: turn.request.turnId,
  ...failure,
  ...promptGiven(turn),
  ...endOf(turn, delivery)
})

/** The configured action `fail`: the turn ends, and its session with it. */
export const turnAndSessionFailed = (
  details: SessionDetails,
  turn: OpenTurn,
  failure: TurnFailure,
  delivery: Delivery
): ReadonlyArray<JournalEvent> => [
  turnFailed(details, turn, { ...failure, sessionUsable: false, sessionEnded: true }, delivery),
  { _tag: "SessionFailed", ...eventFields(details), reason: failure.message }
]

/** A turn that could not begin: whoever requested it is told by the same event as of any other failure. */
export const turnNotBegun = (
  details: SessionDetails,
  turnId: TurnRequest["turnId"],
  failure: TurnFailure
): EventOf<"TurnFailed"> => ({
  _tag: "TurnFailed",
  ...atEnd(details),
  turnId,
  ...failure,
  promptGiven: false,
  ...noUsage,
  duration: 0,
  attempts: 1
})
