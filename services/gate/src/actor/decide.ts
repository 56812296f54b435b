/**
 * Decides how a question is raised, answered, withdrawn and reminded of
 * (docs/design/gate.md#the-gate-where-humans-answer).
 */
import { type Delivery, type Refusal, refusing } from "@reprise/actor"
import { defined, type EscalationId, type EscalationOption } from "@reprise/protocol"
import { Equal, Result } from "effect"
import { type NamedAgent, readAgent } from "../namedAgent.ts"
import { resolveChoice } from "../resolveChoice.ts"
import type { EscalationInput, InputOf } from "./inputs.ts"
import type { JournalEvent } from "./journal.ts"
import { defaultReminders, type ReminderSettings } from "./reminders.ts"
import { type ClosedEscalation, type EscalationState, namedAgent, type OpenEscalation, toldOf } from "./state.ts"

export interface GateSettings extends ReminderSettings {
  /** The names of the channels that are notified of new questions. */
  readonly channels: ReadonlyArray<string>
}

type Decision = Result.Result<ReadonlyArray<JournalEvent>, Refusal>

const refuse = refusing("gate")
const nothing: Decision = Result.succeed([])
const record = (event: JournalEvent): Decision => Result.succeed([event])

/** Who closed the question, and how: a late answer is refused with this. */
const describeClosing = (state: ClosedEscalation): string =>
  state.status === "answered"
    ? `is closed: ${state.answer.by} answered '${state.answer.choice}' through ${state.answer.via} at ${state.answer.at}`
    : `is closed: it was withdrawn at ${state.withdrawal.at} (${state.withdrawal.reason})`

/**
 * Repeating a question changes nothing. Another one under the same id updates it while it is open, and is refused
 * later.
 */
const raise = (
  state: EscalationState,
  command: InputOf<"RaiseEscalation">,
  now: string,
  { channels, remindAfterMs, remindEveryMs }: GateSettings
): Decision => {
  const id = command.escalationId
  const reminders = { remindAfterMs, remindEveryMs }
  if (command.options.length === 0) {
    return refuse("no-options", `Escalation ${id} has no options, so nobody could answer it. Give it at least one.`)
  }
  switch (state.status) {
    case "none":
      return record({
        _tag: "Raised",
        at: now,
        question: command,
        ...(channels.length === 0 ? {} : { channels }),
        ...(Equal.equals(reminders, defaultReminders) ? {} : { reminders })
      })
    case "open":
      if (state.question.runId !== command.runId) {
        return refuse(
          "another-run",
          `Escalation ${id} belongs to run ${state.question.runId}, not to ${command.runId}.`
        )
      }
      return Equal.equals(state.question, command) ? nothing : record({ _tag: "Updated", at: now, question: command })
    case "answered":
    case "withdrawn":
      // It was withdrawn before it was raised, so it stays closed.
      return state.question === undefined || Equal.equals(state.question, command)
        ? nothing
        : refuse("closed", `Escalation ${id} ${describeClosing(state)}. Raise a new one under another id.`)
  }
}

const requireOpen = (state: EscalationState, id: EscalationId): Result.Result<OpenEscalation, Refusal> => {
  switch (state.status) {
    case "open":
      return Result.succeed(state)
    case "none":
      return refuse("not-found", `There is no escalation ${id}. 'reprise gate list' shows the open ones.`)
    case "answered":
    case "withdrawn":
      return refuse("closed", `Escalation ${id} ${describeClosing(state)}.`)
  }
}

/** An answer that names a commit must name the one that was shown with the question. */
const requireShownCommit = (
  open: OpenEscalation,
  command: InputOf<"AnswerEscalation">
): Result.Result<void, Refusal> => {
  const shown = open.question.evidence.commit
  if (command.commit === undefined || command.commit === shown) return Result.void
  return refuse(
    "another-commit",
    `The answer is for commit ${command.commit}, but escalation ${command.escalationId} asks about ${shown ?? "no commit"}. Read the question again before you answer.`
  )
}

const requireOption = (open: OpenEscalation, choice: string): Result.Result<EscalationOption, Refusal> => {
  const option = resolveChoice(choice, open.question)
  return Result.isSuccess(option) ? Result.succeed(option.success) : refuse(option.failure.code, option.failure.message)
}

/** A lone surrogate would be replaced silently on the way to the agent. */
const requireText = (guidance: string | undefined): Result.Result<void, Refusal> =>
  guidance === undefined || guidance.isWellFormed()
    ? Result.void
    : refuse("unreadable", "The guidance is not valid Unicode. Send it again as UTF-8.")

/** Whether the runtime is set up on the run's host shows there; the gate knows names only. */
const requireAgent = (
  option: EscalationOption,
  named: NamedAgent
): Result.Result<ReturnType<typeof namedAgent>, Refusal> => {
  const read = readAgent(option, named)
  return Result.isSuccess(read) ? Result.succeed(namedAgent(read.success)) : refuse("unusable-agent", read.failure)
}

/**
 * Guidance is kept verbatim, with any choice: an option that asks for none gets it as the reason of the choice. It
 * is never dropped.
 */
const answer = (state: EscalationState, command: InputOf<"AnswerEscalation">, now: string): Decision =>
  Result.gen(function* () {
    const open = yield* requireOpen(state, command.escalationId)
    yield* requireShownCommit(open, command)
    const option = yield* requireOption(open, command.choice)
    yield* requireText(command.guidance)
    const guidance = command.guidance?.trim() === "" ? undefined : command.guidance
    if (option.guidance === "required" && guidance === undefined) {
      return yield* refuse(
        "guidance-required",
        `'${option.name}' needs guidance: say in words what the agent should do.`
      )
    }
    const agent = yield* requireAgent(option, command)
    const answered: JournalEvent = {
      _tag: "Answered",
      at: now,
      choice: option.name,
      by: command.by,
      via: command.via,
      ...defined({ guidance }),
      ...agent,
      ...defined({ commit: command.commit })
    }
    return [answered]
  })

/**
 * A withdrawal that arrives before its question is recorded, so the question never opens. One that arrives after the
 * answer says that the run went on before it heard of the answer.
 */
const withdraw = (
  state: EscalationState,
  { escalationId, reason }: InputOf<"WithdrawEscalation">,
  now: string
): Decision => {
  switch (state.status) {
    case "none":
    case "open":
      return record({ _tag: "Withdrawn", at: now, escalationId, reason })
    case "answered":
      return state.overruled === undefined ? record({ _tag: "Overruled", at: now, reason }) : nothing
    case "withdrawn":
      return nothing
  }
}

/** A timer that fires twice, or after the question was closed, changes nothing. */
const remind = (state: EscalationState, { count }: InputOf<"Remind">, now: string): Decision =>
  state.status === "open" && count === state.reminders + 1 ? record({ _tag: "Reminded", at: now, count }) : nothing

/** Work is delivered again after a crash, so a channel may be reported twice. */
const tell = (state: EscalationState, { channel }: InputOf<"ChannelTold">, now: string): Decision =>
  state.question === undefined || toldOf(state).includes(channel) ? nothing : record({ _tag: "Told", at: now, channel })

const decideFor = (
  current: () => GateSettings,
  state: EscalationState,
  input: EscalationInput,
  delivery: Delivery
): Decision => {
  if (input.escalationId !== delivery.key) {
    return refuse(
      "misaddressed",
      `The message for ${delivery.key} names escalation ${input.escalationId}: they must be the same.`
    )
  }
  switch (input._tag) {
    case "RaiseEscalation":
      return raise(state, input, delivery.now, current())
    case "AnswerEscalation":
      return answer(state, input, delivery.now)
    case "WithdrawEscalation":
      return withdraw(state, input, delivery.now)
    case "Remind":
      return remind(state, input, delivery.now)
    case "ChannelTold":
      return tell(state, input, delivery.now)
  }
}

/** `current`: the settings that a question which is raised now begins with. */
export const decideWith =
  (current: () => GateSettings) =>
  (state: EscalationState, input: EscalationInput, delivery: Delivery): Decision =>
    decideFor(current, state, input, delivery)
