/** The gate in a terminal: shows one question and reads lines until there is an answer. */
import { type Look, parseAnswer } from "@reprise/gate/typedAnswer"
import { type EscalationOption, type EscalationView, isFinalChoice } from "@reprise/protocol"
import { Effect } from "effect"
import { color, say } from "../../terminal/Printer.ts"
import { readInEditor } from "../../terminal/readInEditor.ts"
import { type Line, readLine, saysYes } from "../../terminal/readLine.ts"
import { quotedLines, visible, visibleLine } from "../../terminal/visible.ts"
import type { Answer } from "../../views/gate/GateModel.ts"
import { questionText } from "../../views/questionText.ts"
import type { WantedFork } from "../forks/forkAtQuestion.ts"
import { evidenceText } from "./evidenceText.ts"

/** The human closed the prompt; the question stays open. */
export type Closed = Extract<Line, { readonly _tag: "Closed" }>
export type Reply =
  | { readonly _tag: "Answered"; readonly answer: Answer }
  /** The question stays open. */
  | { readonly _tag: "Fork"; readonly wanted: WantedFork }
  | Closed

type Guidance = { readonly _tag: "Guidance"; readonly text: string } | Closed

/** Reads one line, or the text that the user writes in an editor. */
const readGuidance = Effect.fnUntraced(function* (required: boolean): Effect.fn.Return<Guidance> {
  while (true) {
    const line = yield* readLine(`guidance (${required ? "required" : "optional, Enter for none"}; e = editor)> `)
    if (line._tag === "Closed") return line
    if (line.text.trim() !== "e") return { _tag: "Guidance", text: line.text.trim() }
    const text = yield* readInEditor("")
    if (text !== undefined && text !== "") return { _tag: "Guidance", text }
    say(color.red(text === "" ? "You wrote nothing." : "The editor failed; set EDITOR to use another one."))
  }
})

/** The reason for an override or an abort may be given with the choice; only guidance for an agent is asked for. */
const asksForGuidance = ({ guidance, name }: EscalationOption): boolean =>
  guidance === "required" || (guidance === "optional" && name !== "override" && name !== "abort")

type Chosen = Extract<ReturnType<typeof parseAnswer>, { readonly _tag: "Chosen" }>

const answered = ({ named, option }: Chosen, guidance: string): Reply => ({
  _tag: "Answered",
  answer: { choice: option.name, ...(guidance === "" ? {} : { guidance }), ...named }
})

/** Undefined: the guidance that this choice requires is missing, which the human was told. */
const withGuidance = Effect.fnUntraced(function* (chosen: Chosen): Effect.fn.Return<Reply | undefined> {
  const { guidance: typed, option } = chosen
  if (typed !== undefined || !asksForGuidance(option)) return answered(chosen, typed ?? "")
  const required = option.guidance === "required"
  const guidance = yield* readGuidance(required)
  if (guidance._tag === "Closed") return guidance
  if (guidance.text !== "" || !required) return answered(chosen, guidance.text)
  say(color.red("This choice needs guidance."))
  return undefined
})

/** A choice that nobody can take back is asked for once more. Undefined: the human did not mean it. */
const confirmed = Effect.fnUntraced(function* (
  question: EscalationView,
  chosen: Chosen
): Effect.fn.Return<Reply | undefined> {
  const { option } = chosen
  if (!isFinalChoice(question, option.name)) return yield* withGuidance(chosen)
  const line = yield* readLine(`${visibleLine(option.label)}: are you sure? [y/N] `)
  if (line._tag === "Closed") return line
  if (saysYes(line)) return yield* withGuidance(chosen)
  say("Not answered; the question stays open.")
  return undefined
})

const show = (question: EscalationView, what: Look) =>
  Effect.map(evidenceText(question, what), (text) => say(what === "attach" ? visible(text) : quotedLines(text)))

/** Asks again, saying why, as long as the input is not a choice; asks for guidance if the choice takes some. */
export const askInTerminal = Effect.fn("askInTerminal")(function* (question: EscalationView) {
  say("")
  say(questionText(question, Date.now()))
  say(color.dim("Before you answer: d = diff, t = transcript, l = quality gate log, a = how to attach"))
  say(color.dim("Without an answer: fork: guidance = another session tries again from the last turn, in a worktree"))
  const byAnother = question.options.find(({ agent }) => agent === true)
  if (byAnother !== undefined) {
    const key = visibleLine(byAnother.keys[0] ?? byAnother.name)
    say(color.dim(`Another agent takes over with: ${key} --runtime NAME --model NAME --variant NAME: guidance`))
  }
  while (true) {
    const line = yield* readLine("answer> ")
    if (line._tag === "Closed") return line satisfies Reply
    const typed = parseAnswer(line.text, question)
    switch (typed._tag) {
      case "AskAgain":
        say(color.red(visible(typed.message)))
        break
      case "Look":
        yield* show(question, typed.what)
        break
      case "Fork": {
        const { _tag, ...wanted } = typed
        return { _tag, wanted } satisfies Reply
      }
      case "Chosen": {
        const reply = yield* confirmed(question, typed)
        if (reply !== undefined) return reply
      }
    }
  }
})
