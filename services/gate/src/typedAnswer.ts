/**
 * Reads the line that a human typed at the gate. For every screen that takes a line of text, as `@reprise/gate/typedAnswer`;
 * the Escalation actor decides again when the answer arrives.
 */
import type { EscalationOption } from "@reprise/protocol"
import { Result } from "effect"
import { readAgent, readFlags, type UsableNames } from "./namedAgent.ts"
import { listOptions, type NoSuchChoice, type OfferedChoices, resolveChoice } from "./resolveChoice.ts"

export { type NamedAgent, readAgent, readFlags, type UsableNames } from "./namedAgent.ts"
export { listOptions, type OfferedChoices, resolveChoice }

/** What can be looked at from every question, without answering it. */
export type Look = "diff" | "transcript" | "log" | "attach"

export type TypedAnswer =
  /**
   * `guidance` is verbatim, trimmed. When it is absent and the option takes some, the screen may ask for it. `named`: the
   * agent that is to take over.
   */
  | {
      readonly _tag: "Chosen"
      readonly option: EscalationOption
      readonly guidance?: string
      readonly named?: UsableNames
    }
  | { readonly _tag: "Look"; readonly what: Look }
  /** No answer: the session that asks is to be forked. `at`: after which of its turns; absent: the last that has ended. */
  | { readonly _tag: "Fork"; readonly words?: string; readonly at?: number }
  /** Show `message` and ask again; the question stays open. */
  | { readonly _tag: "AskAgain"; readonly message: string }

const looks: ReadonlyMap<string, Look> = new Map([
  ["d", "diff"],
  ["t", "transcript"],
  ["l", "log"],
  ["a", "attach"]
])

type Chosen = Extract<TypedAnswer, { readonly _tag: "Chosen" }>

const chosen = (option: EscalationOption, text: string): Chosen => {
  const guidance = text.trim()
  return guidance === "" ? { _tag: "Chosen", option } : { _tag: "Chosen", option, guidance }
}

/** An option and what follows it, without a colon between them: `f --runtime claude --model opus: text`. */
const withFlags = (typed: string, question: OfferedChoices): TypedAnswer | undefined => {
  const at = typed.search(/\s--(runtime|model|variant)\b/)
  if (at < 0 || at > longestWord(question)) return undefined
  const option = resolveChoice(typed.slice(0, at), question)
  if (Result.isFailure(option)) return option.failure.code === "not-offered" ? askAgain(option.failure) : undefined
  const { named, rest } = readFlags(typed.slice(at))
  const [, guidance] = /^\s*(?::([\s\S]*))?$/.exec(rest) ?? [undefined, undefined]
  if (rest.trim() !== "" && guidance === undefined) {
    return {
      _tag: "AskAgain",
      message: `'${rest.trim().slice(0, 80)}' is not understood. Write --runtime NAME, --model NAME or --variant NAME, then a colon and what the agent should do.`
    }
  }
  const agent = readAgent(option.success, named)
  if (Result.isFailure(agent)) return { _tag: "AskAgain", message: agent.failure }
  return { ...chosen(option.success, guidance ?? ""), named: agent.success }
}

/** `fork`, `fork: text`, `fork --at 2: text`. */
const forking = (typed: string): TypedAnswer | undefined => {
  const [whole, turn, text = ""] = /^fork(?:\s+--at\s+(\d{1,6}))?\s*(?::([\s\S]*))?$/i.exec(typed) ?? []
  if (whole === undefined) return undefined
  const words = text.trim()
  return {
    _tag: "Fork",
    ...(words === "" ? {} : { words }),
    ...(turn === undefined ? {} : { at: Number(turn) })
  }
}

const askAgain = ({ message }: NoSuchChoice): TypedAnswer => ({ _tag: "AskAgain", message })

/** The words that can be meant are shorter; what is pasted after them may be long. */
const longestWord = ({ options }: OfferedChoices): number =>
  Math.max(80, ...options.flatMap(({ keys, name }) => [name, ...keys]).map(({ length }) => length))

/** Positions of the colons that may end the choice: an option's name may contain one. */
const colonsIn = (line: string, question: OfferedChoices): ReadonlyArray<number> =>
  [...line.slice(0, longestWord(question) + 1).matchAll(/:/g)].map(({ index }) => index)

/**
 * Reads `c`, `c: text`, `f --runtime claude: text`, an option's name, key or word, a key that shows something, or `fork`. An option's own key takes
 * precedence over the latter. The text after the colon may have many lines.
 */
export const parseAnswer = (line: string, question: OfferedChoices): TypedAnswer => {
  const typed = line.trim()
  if (typed === "") return { _tag: "AskAgain", message: `Choose one of: ${listOptions(question.options)}.` }
  const whole = resolveChoice(typed, question)
  if (Result.isSuccess(whole)) return chosen(whole.success, "")
  const flagged = withFlags(typed, question)
  if (flagged !== undefined) return flagged
  for (const colon of colonsIn(typed, question)) {
    const part = resolveChoice(typed.slice(0, colon), question)
    if (Result.isSuccess(part)) return chosen(part.success, typed.slice(colon + 1))
    if (part.failure.code === "not-offered") return askAgain(part.failure)
  }
  const what = looks.get(typed.toLowerCase())
  return what === undefined ? (forking(typed) ?? askAgain(whole.failure)) : { _tag: "Look", what }
}
