/**
 * Finds the option that a typed word means. Only whole words count, never a prefix: `continue-session` is never read as
 * `continue` with guidance `-session` (docs/design/gate.md#the-gate-where-humans-answer).
 */
import type { EscalationOption, Evidence, RefusalCode } from "@reprise/protocol"
import { Result } from "effect"

/** The parts of an escalation that a choice depends on. */
export interface OfferedChoices {
  readonly options: ReadonlyArray<EscalationOption>
  readonly evidence: Pick<Evidence, "continueUnavailable">
}

/** `not-offered`: continue-session, where it is no option. `not-an-option`: any other word without an option. */
export interface NoSuchChoice {
  readonly code: Extract<RefusalCode<"gate">, "not-offered" | "not-an-option">
  /** A sentence with the next step. */
  readonly message: string
}

const continueSession = "continue-session"

/** The words of the step question. An option's own name or key takes precedence. */
const stepWords: ReadonlyMap<string, string> = new Map([
  ["c", continueSession],
  [continueSession, continueSession],
  ["f", "fix"],
  ["o", "override"],
  ["approve", "override"],
  ["q", "abort"]
])

const describe = (option: EscalationOption) =>
  option.keys.length === 0 ? option.name : `${option.name} (${option.keys.join(", ")})`

/** The options as one line: `continue-session (c), fix (f), abort (q)`. */
export const listOptions = (options: ReadonlyArray<EscalationOption>): string => options.map(describe).join(", ")

const noSuchChoice = (typed: string, asksToContinue: boolean, question: OfferedChoices): NoSuchChoice => {
  const choose = `Choose one of: ${listOptions(question.options)}.`
  if (!asksToContinue) {
    return { code: "not-an-option", message: `'${typed.slice(0, 80)}' is not one of the choices. ${choose}` }
  }
  const why = question.evidence.continueUnavailable ?? "this question does not concern a session"
  return {
    code: "not-offered",
    message: `continue-session is not offered here: ${why.replace(/(?<![.\s])[.\s]+$/, "")}. ${choose}`
  }
}

/** Tries, in this order: an option's name, its key, a word of the step question. Upper and lower case are the same. */
export const resolveChoice = (
  text: string,
  question: OfferedChoices
): Result.Result<EscalationOption, NoSuchChoice> => {
  const typed = text.trim()
  const word = typed.toLowerCase()
  const meant = stepWords.get(word)
  const option =
    question.options.find((one) => one.name === typed) ??
    question.options.find((one) => one.name.toLowerCase() === word) ??
    question.options.find((one) => one.keys.some((key) => key.toLowerCase() === word)) ??
    question.options.find((one) => one.name === meant)
  return option === undefined
    ? Result.fail(noSuchChoice(typed, meant === continueSession, question))
    : Result.succeed(option)
}
