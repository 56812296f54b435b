/** The plain gate: shows one question and reads lines until there is an answer (gate: terminal). */
import { parseAnswer } from "@reprise/gate/answer"
import type { EscalationOption, EscalationView } from "@reprise/protocol"
import { Effect } from "effect"
import { color, say, visible } from "../../terminal/Printer.ts"
import { readInEditor } from "../../terminal/readInEditor.ts"
import { readLine } from "../../terminal/readLine.ts"
import { questionText } from "../../views/questionText.ts"
import type { Answer } from "./answerQuestion.ts"
import { lookAt } from "./showEvidence.ts"

export type Asked =
  | { readonly _tag: "Answered"; readonly answer: Answer }
  | { readonly _tag: "Left"; readonly how: "interrupt" | "end" }

type Words = { readonly _tag: "Words"; readonly text: string } | Extract<Asked, { readonly _tag: "Left" }>

/** A line, or what was written in an editor. */
const readGuidance = Effect.fnUntraced(function* (required: boolean): Effect.fn.Return<Words> {
  while (true) {
    const line = yield* readLine(`guidance (${required ? "required" : "optional, Enter for none"}; e = editor)> `)
    if (line._tag === "Left") return line
    if (line.text.trim() !== "e") return { _tag: "Words", text: line.text.trim() }
    const text = yield* readInEditor
    if (text !== undefined && text !== "") return { _tag: "Words", text }
    say(color.red(text === "" ? "Nothing was written." : "The editor failed; EDITOR names another one."))
  }
})

/** Why something is overridden or aborted is recorded where it is said; only words for an agent are asked for. */
const asksForWords = ({ guidance, name }: EscalationOption): boolean =>
  guidance === "required" || (guidance === "optional" && name !== "override" && name !== "abort")

/** Unknown input is asked again with the reason; guidance is asked for where the choice takes it. */
export const askInTerminal = Effect.fn("askInTerminal")(function* (question: EscalationView) {
  say("")
  say(questionText(question, Date.now()))
  say(color.dim("to look first: d = diff, t = transcript, l = gate log, a = how to attach"))
  while (true) {
    const line = yield* readLine("answer> ")
    if (line._tag === "Left") return line satisfies Asked
    const typed = parseAnswer(line.text, question)
    if (typed._tag === "AskAgain") {
      say(color.red(visible(typed.message)))
      continue
    }
    if (typed._tag === "Look") {
      say(visible(yield* lookAt(question, typed.what)))
      continue
    }
    const { guidance, option } = typed
    if (guidance !== undefined || !asksForWords(option)) return answered(option.name, guidance)
    const required = option.guidance === "required"
    const words = yield* readGuidance(required)
    if (words._tag === "Left") return words satisfies Asked
    const { text } = words
    if (text !== "" || !required) return answered(option.name, text === "" ? undefined : text)
    say(color.red("This choice needs some words."))
  }
})

const answered = (choice: string, guidance: string | undefined): Asked => ({
  _tag: "Answered",
  answer: { choice, ...(guidance === undefined ? {} : { guidance }) }
})
