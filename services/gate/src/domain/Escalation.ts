/**
 * One question to a human: open until the first valid answer, whichever channel it came by, or until withdrawn (gate).
 */
import { type Delivery, Refusal } from "@reprise/actor"
import type { EscalationId } from "@reprise/protocol"
import { Equal, Result } from "effect"
import { resolveChoice } from "./choice.ts"
import type {
  AnswerEscalation,
  EscalationEvent,
  EscalationInput,
  Question,
  RaiseEscalation,
  Remind,
  WithdrawEscalation
} from "./messages.ts"

type Answered = Extract<EscalationEvent, { readonly _tag: "Answered" }>
type Withdrawn = Extract<EscalationEvent, { readonly _tag: "Withdrawn" }>

export type EscalationState =
  | { readonly status: "none" }
  | { readonly status: "open"; readonly question: Question; readonly raisedAt: string; readonly reminders: number }
  | {
      readonly status: "answered"
      readonly question: Question
      readonly raisedAt: string
      readonly answer: Answered
    }
  | {
      readonly status: "withdrawn"
      /** Absent when it was withdrawn before it was raised. */
      readonly question?: Question
      readonly raisedAt?: string
      readonly withdrawal: Withdrawn
    }

type Open = Extract<EscalationState, { readonly status: "open" }>
type Decision = Result.Result<ReadonlyArray<EscalationEvent>, Refusal>

const refuse = (reason: string): Decision => Result.fail(new Refusal({ reason }))
const nothing: Decision = Result.succeed([])
const record = (event: EscalationEvent): Decision => Result.succeed([event])

/** The first answer, as the loser is told of it. */
const closedBy = (state: Exclude<EscalationState, { readonly status: "none" | "open" }>): string =>
  state.status === "answered"
    ? `${state.answer.by} answered '${state.answer.choice}' through ${state.answer.via} at ${state.answer.at}`
    : `it was withdrawn at ${state.withdrawal.at} (${state.withdrawal.reason})`

/** Repeats are harmless; another question under an open id updates it, under a closed id is refused (gate: raised once). */
const raise = (state: EscalationState, command: RaiseEscalation, now: string): Decision => {
  if (command.options.length === 0) {
    return refuse(`Escalation ${command.escalationId} offers no choice, so nobody could answer it.`)
  }
  switch (state.status) {
    case "none":
      return record({ _tag: "Raised", at: now, question: command })
    case "open":
      if (state.question.runId !== command.runId) {
        return refuse(`Escalation ${command.escalationId} belongs to run ${state.question.runId}.`)
      }
      return Equal.equals(state.question, command) ? nothing : record({ _tag: "Updated", at: now, question: command })
    default:
      return state.question === undefined || Equal.equals(state.question, command)
        ? nothing
        : refuse(`Escalation ${command.escalationId} is closed: ${closedBy(state)}. Raise a new one.`)
  }
}

const requireOpen = (state: EscalationState, id: EscalationId): Result.Result<Open, Refusal> => {
  switch (state.status) {
    case "open":
      return Result.succeed(state)
    case "none":
      return Result.fail(
        new Refusal({ reason: `There is no escalation ${id}. 'reprise gate list' shows the open ones.` })
      )
    default:
      return Result.fail(new Refusal({ reason: `Escalation ${id} is closed: ${closedBy(state)}.` }))
  }
}

/**
 * Guidance is kept word for word, with any choice: where an option takes none it is recorded and handed on all the
 * same, as the reason of the choice. It is never dropped.
 */
const answer = (state: EscalationState, command: AnswerEscalation, now: string): Decision =>
  Result.gen(function* () {
    const { question } = yield* requireOpen(state, command.escalationId)
    if (command.commit !== undefined && command.commit !== question.evidence.commit) {
      const asked = question.evidence.commit ?? "no commit"
      return yield* Result.fail(
        new Refusal({
          reason: `The answer is for commit ${command.commit}, but escalation ${command.escalationId} asks about ${asked}. Look at it again.`
        })
      )
    }
    const option = yield* Result.mapError(
      resolveChoice(command.choice, question),
      (no) => new Refusal({ reason: no.message })
    )
    const guidance = command.guidance?.trim() === "" ? undefined : command.guidance
    if (option.guidance === "required" && guidance === undefined) {
      return yield* Result.fail(
        new Refusal({ reason: `'${option.name}' needs guidance: say in words what is to be done.` })
      )
    }
    return [
      {
        _tag: "Answered" as const,
        at: now,
        choice: option.name,
        by: command.by,
        via: command.via,
        ...(guidance === undefined ? {} : { guidance })
      }
    ]
  })

/** Too late after an answer. Before the question it is remembered, so that a late question does not open. */
const withdraw = (state: EscalationState, { escalationId, reason }: WithdrawEscalation, now: string): Decision => {
  switch (state.status) {
    case "none":
    case "open":
      return record({ _tag: "Withdrawn", at: now, escalationId, reason })
    case "answered":
      return refuse(`Escalation ${escalationId} is closed: ${closedBy(state)}.`)
    case "withdrawn":
      return nothing
  }
}

const remind = (state: EscalationState, command: Remind, now: string): Decision =>
  state.status === "open" && command.count === state.reminders + 1
    ? record({ _tag: "Reminded", at: now, count: command.count })
    : nothing

export const decide = (state: EscalationState, input: EscalationInput, delivery: Delivery): Decision => {
  if (input.escalationId !== delivery.key) {
    return refuse(`The message for ${delivery.key} names escalation ${input.escalationId}: they must be the same.`)
  }
  switch (input._tag) {
    case "RaiseEscalation":
      return raise(state, input, delivery.now)
    case "AnswerEscalation":
      return answer(state, input, delivery.now)
    case "WithdrawEscalation":
      return withdraw(state, input, delivery.now)
    case "Remind":
      return remind(state, input, delivery.now)
  }
}

export const evolve = (state: EscalationState, event: EscalationEvent): EscalationState => {
  switch (event._tag) {
    case "Raised":
      return { status: "open", question: event.question, raisedAt: event.at, reminders: 0 }
    case "Updated":
      return state.status === "open" ? { ...state, question: event.question } : state
    case "Reminded":
      return state.status === "open" ? { ...state, reminders: event.count } : state
    case "Answered":
      return state.status === "open"
        ? { status: "answered", question: state.question, raisedAt: state.raisedAt, answer: event }
        : state
    case "Withdrawn":
      return state.status === "open"
        ? { status: "withdrawn", question: state.question, raisedAt: state.raisedAt, withdrawal: event }
        : { status: "withdrawn", withdrawal: event }
  }
}
