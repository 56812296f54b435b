/**
 * Which option a typed word means. Whole words only: no prefix of a word ever stands for it, so that
 * `continue-session` is never read as `continue` with something behind (gate: c where it is not offered).
 */
import type { EscalationOption, Evidence } from "@reprise/protocol"
import { Result } from "effect"

/** What choosing needs to know of an escalation. */
export interface Question {
  readonly options: ReadonlyArray<EscalationOption>
  readonly evidence: Pick<Evidence, "continueUnavailable">
}

/** `unavailable`: continue-session, asked for where it is not offered. `unknown`: no word for any option. */
export interface NoSuchChoice {
  readonly kind: "unavailable" | "unknown"
  /** A sentence with the next step. */
  readonly message: string
}

const continueSession = "continue-session"

/** The words of the step question (gate: keys and words). An option's own name or key comes before them. */
const words: ReadonlyMap<string, string> = new Map([
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

/** How a typed word becomes a choice, in this order: an option's name, its key, a word of the step question. */
export const resolveChoice = (text: string, question: Question): Result.Result<EscalationOption, NoSuchChoice> => {
  const typed = text.trim()
  const word = typed.toLowerCase()
  const byWord = words.get(word)
  const option =
    question.options.find((one) => one.name === typed) ??
    question.options.find((one) => one.name.toLowerCase() === word) ??
    question.options.find((one) => one.keys.some((key) => key.toLowerCase() === word)) ??
    (byWord === undefined ? undefined : question.options.find((one) => one.name === byWord))
  if (option !== undefined) return Result.succeed(option)

  const choose = `Choose one of: ${listOptions(question.options)}.`
  if (byWord === continueSession) {
    const why = question.evidence.continueUnavailable ?? "this question takes only answers of its own"
    return Result.fail({
      kind: "unavailable",
      message: `continue-session is not offered here: ${why.replace(/[.\s]+$/, "")}. ${choose}`
    })
  }
  return Result.fail({
    kind: "unknown",
    message: `'${typed.slice(0, 80)}' is not one of the choices. ${choose}`
  })
}
