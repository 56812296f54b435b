/** What a standalone session asks humans, with the choices under the names that every channel uses (gate). */
import { type EscalationOption, type EscalationOrigin, type Evidence, escalationIdOf } from "@reprise/protocol"
import type { EventOf, SessionDetails } from "../events.ts"
import type { OpenPrompt, Session } from "../Session.ts"

type Asked = EventOf<"QuestionAsked">

const option = (
  name: string,
  label: string,
  guidance: EscalationOption["guidance"] = "none",
  keys: ReadonlyArray<string> = []
): EscalationOption => ({ name, label, keys, guidance })

const continueSession = option("continue-session", "continue session (resume the interrupted agent)", "optional", ["c"])
const fix = option("fix", "fix in new session (start fresh with optional guidance)", "optional", ["f"])
const abort = option("abort", "abort (stop the session)", "optional", ["q"])

const ask = (
  session: Session,
  details: SessionDetails,
  kind: Asked["kind"],
  question: {
    readonly origin: EscalationOrigin
    readonly reason: string
    readonly options: ReadonlyArray<EscalationOption>
    readonly evidence: Evidence
    /** The session is there to be looked at, and cannot be continued. */
    readonly onlySeen?: boolean
  }
): Asked => {
  const { evidence, onlySeen = false, ...rest } = question
  const { sessionId } = details
  const used = { tokens: session.tokens, cost: session.cost }
  return {
    _tag: "QuestionAsked",
    kind,
    ask: {
      _tag: "RaiseEscalation",
      escalationId: escalationIdOf(details.runId, session.questionsAsked + 1),
      runId: details.runId,
      ...(onlySeen ? {} : { sessionId }),
      ...rest,
      evidence: { ...used, ...evidence, ...(onlySeen ? { sessionId } : {}) }
    }
  }
}

/** What the agent itself asks, in its turn or while a human works with it. */
export const askPrompt = (session: Session, details: SessionDetails, prompt: OpenPrompt): Asked => {
  const own = prompt.choices.map(({ label, name }) =>
    name === "other" ? option(name, label, "required") : option(name, label)
  )
  const permission = [option("once", "allow once"), option("always", "allow always"), option("reject", "reject")]
  return ask(session, details, "prompt", {
    origin: prompt.kind,
    reason: prompt.text,
    options: own.length === 0 ? permission : own,
    evidence: { promptId: prompt.promptId }
  })
}

type Ended = EventOf<"TurnCompleted"> | EventOf<"TurnFailed">

/** Why the session cannot be continued; undefined: it can. A continuation that failed is not offered again. */
const noContinue = (event: Ended, continued: boolean): string | undefined => {
  if (event._tag === "TurnCompleted") {
    return continued && event.status?.result === "failed" ? "it was continued, and the agent failed again" : undefined
  }
  if (!event.sessionUsable) return `the state of the session is not known after its turn failed (${event.kind})`
  return continued ? "it was continued, and the turn failed again" : undefined
}

const reasonOf = (event: Ended): string => {
  if (event._tag === "TurnFailed") return event.message
  const { checkpoint, reason, result } = event.status ?? {}
  return reason ?? checkpoint?.description ?? `The agent reports '${result ?? "nothing"}' without a reason.`
}

/** The turn is over and its task is not done. */
export const askAfterTurn = (session: Session, details: SessionDetails, event: Ended, continued: boolean): Asked => {
  const why = noContinue(event, continued)
  const origin = event._tag === "TurnCompleted" ? "author" : event.kind === "turn-limit" ? "limit" : "runtime"
  const { checkpoint } = event._tag === "TurnCompleted" ? (event.status ?? {}) : {}
  return ask(session, details, "step", {
    origin,
    reason: reasonOf(event),
    options: [...(why === undefined ? [continueSession] : []), fix, abort],
    onlySeen: why !== undefined,
    evidence: {
      ...(event.lastLines === undefined ? {} : { lastLines: event.lastLines }),
      ...(why === undefined ? {} : { continueUnavailable: why }),
      ...(checkpoint === undefined ? {} : { checkpoint })
    }
  })
}

/** The same question under a new id. */
export const askAgain = (session: Session, details: SessionDetails, { ask: asked, kind }: Asked): Asked => ({
  _tag: "QuestionAsked",
  kind,
  ask: { ...asked, escalationId: escalationIdOf(details.runId, session.questionsAsked + 1) }
})
