/** The escalations of a standalone session, with the option names that every channel uses. */
import { type EscalationOption, type EscalationOrigin, type Evidence, escalationIdOf } from "@reprise/protocol"
import type { EventOf, SessionDetails } from "../actor/journal.ts"
import type { AgentQuestion, Session } from "../actor/state.ts"

type Requested = EventOf<"EscalationRequested">

const option = (
  name: string,
  label: string,
  guidance: EscalationOption["guidance"] = "none",
  keys: ReadonlyArray<string> = []
): EscalationOption => ({ name, label, keys, guidance })

const continueSession = option("continue-session", "continue session (resume the interrupted agent)", "optional", ["c"])
const fix = option("fix", "fix in new session (start fresh with optional guidance)", "optional", ["f"])
const abort = option("abort", "abort (stop the session)", "optional", ["q"])

const raise = (
  session: Session,
  details: SessionDetails,
  kind: Requested["kind"],
  escalation: {
    readonly origin: EscalationOrigin
    readonly reason: string
    readonly options: ReadonlyArray<EscalationOption>
    readonly evidence: Evidence
    /** The session cannot be continued, only looked at. */
    readonly readOnly?: boolean
  }
): Requested => {
  const { evidence, readOnly = false, ...rest } = escalation
  const { sessionId } = details
  const used = { tokens: session.tokens, cost: session.cost }
  return {
    _tag: "EscalationRequested",
    kind,
    ask: {
      _tag: "RaiseEscalation",
      escalationId: escalationIdOf(details.runId, session.escalationsRequested + 1),
      runId: details.runId,
      ...(readOnly ? {} : { sessionId }),
      ...rest,
      evidence: { ...used, ...evidence, ...(readOnly ? { sessionId } : {}) }
    }
  }
}

/** The agent asks, in its turn or while a human works with it. */
export const raiseForAgent = (session: Session, details: SessionDetails, question: AgentQuestion): Requested => {
  const own = question.options.map(({ label, name }) =>
    name === "other" ? option(name, label, "required") : option(name, label)
  )
  const permission = [option("once", "allow once"), option("always", "allow always"), option("reject", "reject")]
  return raise(session, details, "prompt", {
    origin: question.kind,
    reason: question.text,
    options: own.length === 0 ? permission : own,
    evidence: { promptId: question.promptId }
  })
}

type Ended = EventOf<"TurnCompleted"> | EventOf<"TurnFailed">

/** Why the session cannot be continued; undefined: it can. A continue that failed is not offered again. */
const noContinue = (event: Ended, continued: boolean): string | undefined => {
  if (event._tag === "TurnCompleted") {
    return continued && event.status?.result === "failed" ? "it was continued, and the agent failed again" : undefined
  }
  if (!event.sessionUsable) return `the state of the session is unknown after its turn failed (${event.kind})`
  return continued ? "it was continued, and the turn failed again" : undefined
}

const reasonOf = (event: Ended): string => {
  if (event._tag === "TurnFailed") return event.message
  const { checkpoint, reason, result } = event.status ?? {}
  return reason ?? checkpoint?.description ?? `The agent reports '${result ?? "nothing"}' without a reason.`
}

/** The turn is over and its task is not done. */
export const raiseAfterTurn = (
  session: Session,
  details: SessionDetails,
  event: Ended,
  continued: boolean
): Requested => {
  const why = noContinue(event, continued)
  const origin = event._tag === "TurnCompleted" ? "author" : event.kind === "turn-limit" ? "limit" : "runtime"
  const { checkpoint } = event._tag === "TurnCompleted" ? (event.status ?? {}) : {}
  return raise(session, details, "step", {
    origin,
    reason: reasonOf(event),
    options: [...(why === undefined ? [continueSession] : []), fix, abort],
    readOnly: why !== undefined,
    evidence: {
      ...(event.lastLines === undefined ? {} : { lastLines: event.lastLines }),
      ...(why === undefined ? {} : { continueUnavailable: why }),
      ...(checkpoint === undefined ? {} : { checkpoint })
    }
  })
}

/** The same escalation under a new id. */
export const raiseAgain = (session: Session, details: SessionDetails, { ask, kind }: Requested): Requested => ({
  _tag: "EscalationRequested",
  kind,
  ask: { ...ask, escalationId: escalationIdOf(details.runId, session.escalationsRequested + 1) }
})
