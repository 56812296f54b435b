/** What a human's answer to a standalone session leads to (run-machine: ESCALATE, without a run). */
import type { Delivery } from "@reprise/actor"
import type { PublicEvent } from "@reprise/protocol"
import { Result } from "effect"
import { turnFailed } from "../endTurn.ts"
import type { JournalEvent, SessionDetails } from "../events.ts"
import { type Decision, nothing } from "../guards.ts"
import { continuePrompt, withGuidance } from "../prompts.ts"
import { placeOf, type Session } from "../Session.ts"
import { askAgain } from "./questions.ts"
import { nextTurn } from "./start.ts"

type Answered = Extract<PublicEvent, { readonly _tag: "EscalationAnswered" }>
type Withdrawn = Extract<PublicEvent, { readonly _tag: "EscalationWithdrawn" }>

/** An option's own name goes back to the runtime; free text in place of `other`. */
const answerPrompt = (
  session: Session,
  promptId: string | undefined,
  answer: Answered
): ReadonlyArray<JournalEvent> => {
  const prompt = session.prompts.find((open) => open.promptId === promptId)
  if (prompt === undefined) return []
  const reply = answer.choice === "other" && answer.guidance !== undefined ? answer.guidance : answer.choice
  return [{ _tag: "PromptReplied", promptId: prompt.promptId, kind: prompt.kind, reply }]
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

/** A new session on the runtime takes the old one's place; it is told the whole task, and nothing of what was said. */
const begunAnew = (
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
    : [requested, { _tag: "SessionLost", turnId: requested.turn.turnId, old, reason: "a human chose to begin anew" }]
}

const aborted = (
  session: Session,
  details: SessionDetails,
  { by, guidance, via }: Answered,
  delivery: Delivery
): ReadonlyArray<JournalEvent> => {
  const reason = `aborted by ${by} through ${via}${guidance === undefined ? "" : `: ${guidance}`}`
  const { turn } = session
  const ends: ReadonlyArray<JournalEvent> =
    turn === undefined
      ? []
      : [turnFailed(details, turn, { kind: "aborted", message: reason, sessionUsable: false }, delivery)]
  return [...ends, { _tag: "SessionAborted", ...placeOf(details), reason }]
}

/** An answer to any other question than the open one concerns nobody. */
export const escalationAnswered = (session: Session, answer: Answered, delivery: Delivery): Decision => {
  const { details, question } = session
  const { choice, escalationId, guidance } = answer
  if (details === undefined || question?.ask.escalationId !== escalationId) return nothing
  const closed: JournalEvent = { _tag: "QuestionClosed", escalationId, how: "answered" }
  if (question.kind === "prompt") {
    return Result.succeed([closed, ...answerPrompt(session, question.ask.evidence.promptId, answer)])
  }
  // A human, or the agent, is at work in the session by now: what follows a turn of ours waits for that.
  if (choice === "abort") return Result.succeed([closed, ...aborted(session, details, answer, delivery)])
  return choice === "continue-session" && question.ask.options.some(({ name }) => name === choice)
    ? Result.succeed([closed, continued(session, details, guidance, delivery)])
    : Result.succeed([closed, ...begunAnew(session, details, guidance, delivery)])
}

/** Withdrawn by somebody else: an open task never waits for a closed question. */
export const escalationWithdrawn = (session: Session, event: Withdrawn): Decision => {
  const { details, question } = session
  if (details === undefined || question?.ask.escalationId !== event.escalationId) return nothing
  return Result.succeed([
    { _tag: "QuestionClosed", escalationId: event.escalationId, how: "withdrawn" },
    askAgain(session, details, question)
  ])
}
