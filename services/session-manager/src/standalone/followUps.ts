/**
 * A standalone session is decided like any other; this adds what a run would do for it: it raises escalations,
 * withdraws those that are moot, asks for reports, and completes the session.
 */
import type { Delivery } from "@reprise/actor"
import { evolve } from "../actor/evolve.ts"
import type { JournalEvent, SessionDetails } from "../actor/journal.ts"
import { eventFields, hasEnded, type Session } from "../actor/state.ts"
import { raiseAfterTurn, raiseForAgent } from "./escalations.ts"
import { nextTurn } from "./startSession.ts"

const idleAgain = `You have worked in this session since you stopped to ask a human, and are idle again. Do no further work now.

You will be asked for a report on the state of the task: make it complete and accurate.`

/** Why the open escalation no longer needs an answer; undefined: it does. */
const mootBecause = (
  session: Session,
  events: ReadonlyArray<JournalEvent>
): "agent-working" | "superseded" | undefined => {
  const { escalation } = session
  if (escalation === undefined) return undefined
  const working = events.some((event) => event._tag === "AgentWorking" && event.cause !== "turn")
  if (escalation.kind === "step") return working || session.turn !== undefined ? "agent-working" : undefined
  const open = session.agentQuestions.some(
    ({ promptId, reply }) => promptId === escalation.ask.evidence.promptId && reply === undefined
  )
  return open ? undefined : working ? "agent-working" : "superseded"
}

const close = (session: Session, how: "agent-working" | "superseded" | "run-ended"): ReadonlyArray<JournalEvent> =>
  session.escalation === undefined
    ? []
    : [{ _tag: "EscalationClosed", escalationId: session.escalation.ask.escalationId, how }]

/** The end of a turn completes the session or asks a human. `before`: the session while the turn was open. */
const afterTurn = (
  before: Session,
  session: Session,
  details: SessionDetails,
  event: JournalEvent
): ReadonlyArray<JournalEvent> => {
  if (event._tag !== "TurnCompleted" && event._tag !== "TurnFailed") return []
  if (before.turn?.request.turnId !== event.turnId) return []
  if (event._tag === "TurnCompleted" && event.status?.result === "complete") {
    return [{ _tag: "SessionCompleted", ...eventFields(details) }]
  }
  return [raiseAfterTurn(session, details, event, before.turn.request.continued === true)]
}

/** One escalation is open at a time: the agent's next question waits for the one before. */
const raiseNextQuestion = (session: Session, details: SessionDetails): ReadonlyArray<JournalEvent> => {
  const question = session.agentQuestions.find(({ reply }) => reply === undefined)
  return question === undefined || session.escalation !== undefined ? [] : [raiseForAgent(session, details, question)]
}

/** The human, or the agent by itself, is done: a turn in the same session asks for the report. */
const reportAfterIdle = (session: Session, details: SessionDetails, delivery: Delivery): JournalEvent =>
  nextTurn(
    session,
    details,
    { prompt: idleAgain, freshPrompt: details.wholePrompt, onMissing: "fail", reason: "idle-again" },
    "inspect",
    delivery
  )

/** The events, and those that follow from them. */
export const withFollowUps = (
  before: Session,
  events: ReadonlyArray<JournalEvent>,
  delivery: Delivery
): ReadonlyArray<JournalEvent> => {
  const all = [...events]
  let session = events.reduce(evolve, before)
  const { details } = session
  if (details?.standalone !== true || events.length === 0) return events
  const add = (more: ReadonlyArray<JournalEvent>) => {
    all.push(...more)
    session = more.reduce(evolve, session)
  }
  if (hasEnded(session)) {
    add(close(session, "run-ended"))
    return all
  }
  const why = mootBecause(session, events)
  if (why !== undefined) add(close(session, why))
  for (const event of events) add(afterTurn(before, session, details, event))
  if (hasEnded(session)) return all
  if (events.some(({ _tag }) => _tag === "AgentIdle") && session.escalation === undefined) {
    add([reportAfterIdle(session, details, delivery)])
  }
  add(raiseNextQuestion(session, details))
  return all
}
