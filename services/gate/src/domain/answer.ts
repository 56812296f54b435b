/**
 * What a human typed at the gate, read. Pure, for every screen that takes a line of text; the Escalation actor
 * decides again when the answer arrives. Exported as `@reprise/gate/answer`.
 */
import type { EscalationOption } from "@reprise/protocol"
import { Result } from "effect"
import { listOptions, type NoSuchChoice, type Question, resolveChoice } from "./choice.ts"

export { listOptions, type Question, resolveChoice }

/** What can be looked at from every question, without answering it. */
export type Look = "diff" | "transcript" | "log" | "attach"

export type TypedAnswer =
  /** `guidance` verbatim apart from blanks around it. Absent although the option takes some: the screen may ask for it. */
  | { readonly _tag: "Chosen"; readonly option: EscalationOption; readonly guidance?: string }
  | { readonly _tag: "Look"; readonly what: Look }
  /** Say `message` and ask again; the question stays as it is. */
  | { readonly _tag: "AskAgain"; readonly message: string }

const looks: ReadonlyMap<string, Look> = new Map([
  ["d", "diff"],
  ["t", "transcript"],
  ["l", "log"],
  ["a", "attach"]
])

const chosen = (option: EscalationOption, text: string): TypedAnswer => {
  const guidance = text.trim()
  return guidance === "" ? { _tag: "Chosen", option } : { _tag: "Chosen", option, guidance }
}

/** Where a colon could end the choice: names may hold colons themselves, so every colon is tried, the first one first. */
const colons = (line: string): ReadonlyArray<number> => {
  const found: Array<number> = []
  for (let at = line.indexOf(":"); at !== -1; at = line.indexOf(":", at + 1)) found.push(at)
  return found
}

const askAgain = (no: NoSuchChoice): TypedAnswer => ({ _tag: "AskAgain", message: no.message })

/**
 * Reads `c`, `c: text`, an option's name, key or word, or a key of something to look at. An option's own key comes
 * before the latter. The text after the colon may have many lines.
 */
export const parseAnswer = (line: string, question: Question): TypedAnswer => {
  const typed = line.trim()
  if (typed === "") return { _tag: "AskAgain", message: `Choose one of: ${listOptions(question.options)}.` }
  const whole = resolveChoice(typed, question)
  if (Result.isSuccess(whole)) return chosen(whole.success, "")
  for (const at of colons(typed)) {
    const part = resolveChoice(typed.slice(0, at), question)
    if (Result.isSuccess(part)) return chosen(part.success, typed.slice(at + 1))
    if (part.failure.kind === "unavailable") return askAgain(part.failure)
  }
  const what = looks.get(typed.toLowerCase())
  return what === undefined ? askAgain(whole.failure) : { _tag: "Look", what }
}
