/**
 * The little machine of a standalone session. What happens to the session is decided as for any other; this adds what
 * a run would otherwise do about it: it asks humans, withdraws what is moot, asks for reports, and ends the session.
 */
import type { Delivery } from "@reprise/actor"
import type { JournalEvent, SessionDetails } from "../events.ts"
import { evolve } from "../evolve.ts"
import { hasEnded, placeOf, type Session } from "../Session.ts"
import { askAfterTurn, askPrompt } from "./questions.ts"
import { nextTurn } from "./start.ts"

const idleAgain = `You have worked in this session since you stopped to ask a human, and are idle again. Do no further work now.

You will be asked for a report of where the task stands: give one that is complete and true.`

/** Why the open question need not be answered any more. */
const moot = (session: Session, events: ReadonlyArray<JournalEvent>): "agent-working" | "superseded" | undefined => {
  const { question } = session
  if (question === undefined) return undefined
  const working = events.some((event) => event._tag === "AgentWorking" && event.cause !== "turn")
  if (question.kind === "step") return working || session.turn !== undefined ? "agent-working" : undefined
  const open = session.prompts.some(
    ({ promptId, reply }) => promptId === question.ask.evidence.promptId && reply === undefined
  )
  return open ? undefined : working ? "agent-working" : "superseded"
}

const close = (session: Session, how: "agent-working" | "superseded" | "run-ended"): ReadonlyArray<JournalEvent> =>
  session.question === undefined
    ? []
    : [{ _tag: "QuestionClosed", escalationId: session.question.ask.escalationId, how }]

/** What the end of a turn leads to. `before`: the session while the turn was open. */
const afterTurn = (
  before: Session,
  session: Session,
  details: SessionDetails,
  event: JournalEvent
): ReadonlyArray<JournalEvent> => {
  if (event._tag !== "TurnCompleted" && event._tag !== "TurnFailed") return []
  if (before.turn?.request.turnId !== event.turnId) return []
  if (event._tag === "TurnCompleted" && event.status?.result === "complete") {
    return [{ _tag: "SessionCompleted", ...placeOf(details) }]
  }
  return [askAfterTurn(session, details, event, before.turn.request.continued === true)]
}

/** The next thing that the agent waits for, when no question is open. */
const nextPrompt = (session: Session, details: SessionDetails): ReadonlyArray<JournalEvent> => {
  const prompt = session.prompts.find(({ reply }) => reply === undefined)
  return prompt === undefined || session.question !== undefined ? [] : [askPrompt(session, details, prompt)]
}

/** The human, or the agent by itself, is done: it is asked for its report, in the same session. */
const reportAfterIdle = (session: Session, details: SessionDetails, delivery: Delivery): JournalEvent =>
  nextTurn(
    session,
    details,
    { prompt: idleAgain, freshPrompt: details.wholePrompt, onMissing: "fail", reason: "idle-again" },
    "inspect",
    delivery
  )

/** The events, and what follows from them. */
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
  const why = moot(session, events)
  if (why !== undefined) add(close(session, why))
  for (const event of events) add(afterTurn(before, session, details, event))
  if (hasEnded(session)) return all
  if (events.some(({ _tag }) => _tag === "AgentIdle") && session.question === undefined) {
    add([reportAfterIdle(session, details, delivery)])
  }
  add(nextPrompt(session, details))
  return all
}
