/** What a human's answer to a standalone session leads to (docs/design/sessions.md#auto-resume). */
import type { Delivery } from "@reprise/actor"
import type { PublicEvent } from "@reprise/protocol"
import { Result } from "effect"
import { type Decision, nothing } from "../actor/guards.ts"
import type { JournalEvent, SessionDetails } from "../actor/journal.ts"
import { eventFields, type Session } from "../actor/state.ts"
import { continuePrompt, withGuidance } from "../prompts.ts"
import { turnFailed } from "../turn/endTurn.ts"
import { raiseAgain } from "./escalations.ts"
import { nextTurn } from "./startSession.ts"

type Answered = Extract<PublicEvent, { readonly _tag: "EscalationAnswered" }>
type Withdrawn = Extract<PublicEvent, { readonly _tag: "EscalationWithdrawn" }>

/** An option's name goes back to the runtime; the guidance, where the option is `other`. */
const replyToAgent = (
  session: Session,
  promptId: string | undefined,
  answer: Answered
): ReadonlyArray<JournalEvent> => {
  const question = session.agentQuestions.find((open) => open.promptId === promptId)
  if (question === undefined) return []
  const reply = answer.choice === "other" && answer.guidance !== undefined ? answer.guidance : answer.choice
  return [{ _tag: "AgentQuestionAnswered", promptId: question.promptId, kind: question.kind, reply }]
}

const continued = (session: Session, details: SessionDetails, guidance: string | undefined, delivery: Delivery) =>
  nextTurn(
    session,
    details,
    {
      prompt: continuePrompt(guidance),
      freshPrompt: withGuidance(details.wholePrompt, guidance),
      onMissing: "fail",
      reason: "continue",
      continued: true
    },
    "inspect",
    delivery
  )

/** A new runtime session replaces the old one; it gets the whole task, and nothing of the old conversation. */
const startedOver = (
  session: Session,
  details: SessionDetails,
  guidance: string | undefined,
  delivery: Delivery
): ReadonlyArray<JournalEvent> => {
  const prompt = withGuidance(details.wholePrompt, guidance)
  const turn = { prompt, freshPrompt: prompt, onMissing: "fail" as const, reason: "fix" }
  const requested = nextTurn(session, details, turn, "open", delivery)
  const old = session.runtimeSessionId
  return old === undefined
    ? [requested]
    : [requested, { _tag: "SessionLost", turnId: requested.turn.turnId, old, reason: "a human chose to start over" }]
}

const aborted = (
  session: Session,
  details: SessionDetails,
  { by, guidance, via }: Answered,
  delivery: Delivery
): ReadonlyArray<JournalEvent> => {
  const reason = `aborted by ${by} through ${via}${guidance === undefined ? "" : `: ${guidance}`}`
  const { turn } = session
  const failed: ReadonlyArray<JournalEvent> =
    turn === undefined
      ? []
      : [turnFailed(details, turn, { kind: "aborted", message: reason, sessionUsable: false }, delivery)]
  return [...failed, { _tag: "SessionAborted", ...eventFields(details), reason }]
}

/** Only the answer to the open escalation counts. */
export const escalationAnswered = (session: Session, answer: Answered, delivery: Delivery): Decision => {
  const { details, escalation } = session
  const { choice, escalationId, guidance } = answer
  if (details === undefined || escalation?.ask.escalationId !== escalationId) return nothing
  const closed: JournalEvent = { _tag: "EscalationClosed", escalationId, how: "answered" }
  if (escalation.kind === "prompt") {
    return Result.succeed([closed, ...replyToAgent(session, escalation.ask.evidence.promptId, answer)])
  }
  if (choice === "abort") return Result.succeed([closed, ...aborted(session, details, answer, delivery)])
  return choice === "continue-session" && escalation.ask.options.some(({ name }) => name === choice)
    ? Result.succeed([closed, continued(session, details, guidance, delivery)])
    : Result.succeed([closed, ...startedOver(session, details, guidance, delivery)])
}

/** Withdrawn by somebody else, the escalation is raised again: an open task never waits for a closed one. */
export const escalationWithdrawn = (session: Session, event: Withdrawn): Decision => {
  const { details, escalation } = session
  if (details === undefined || escalation?.ask.escalationId !== event.escalationId) return nothing
  return Result.succeed([
    { _tag: "EscalationClosed", escalationId: event.escalationId, how: "withdrawn" },
    raiseAgain(session, details, escalation)
  ])
}
