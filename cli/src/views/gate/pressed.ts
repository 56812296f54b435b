/** What a key or a paste does at the gate. Pure. */
import {
  defined,
  type EscalationOption,
  type EscalationView,
  forkKey,
  gateAction,
  isFinalChoice,
  keyedChoices,
  recommended,
  saidOfFinal,
  undoKey,
  whyNoChoice
} from "@reprise/protocol"
import { visibleLine } from "../../terminal/visible.ts"
import { readAnswerText } from "./answerText.ts"
import { forkChoice } from "./choices.ts"
import { draftOf, type Edit, edit, emptyDraft, insert } from "./Draft.ts"
import { type Answer, currentQuestion, type GateModel, type GateRequest, type Mode, writtenNow } from "./GateModel.ts"
import type { Key } from "./keys.ts"
import { keepDraft, setFilter, showTab, skip, turnTab } from "./navigation.ts"
import { scrolling } from "./screen.ts"

interface Pressed {
  readonly model: GateModel
  readonly requests: ReadonlyArray<GateRequest>
}

/** How long a confirmed choice can be undone. */
export const undoMs = 5_000

const stay = (model: GateModel): Pressed => ({ model, requests: [] })
const say = (model: GateModel, text: string): Pressed => stay({ ...model, notice: { text, tone: "bad" } })
const enterMode = (model: GateModel, mode: Mode): GateModel => ({ ...model, mode })

/** Back to the question; what was written is kept. */
const backToReading = (model: GateModel): GateModel => enterMode(keepDraft(model), { _tag: "Reading" })

const scrollBy = (model: GateModel, to: (now: ReturnType<typeof scrolling>) => number): Pressed => {
  const now = scrolling(model)
  return stay({ ...model, scroll: Math.max(0, Math.min(now.last, to(now))) })
}

const takeChoice = (model: GateModel, question: EscalationView, option: EscalationOption): Pressed => {
  if (isFinalChoice(question, option.name)) return stay(enterMode(model, { _tag: "Confirming", option, guidance: "" }))
  const draft = option.guidance === "none" ? emptyDraft : draftOf(writtenNow(model))
  return stay(enterMode(model, { _tag: "Writing", option, draft }))
}

const writesWith = (question: EscalationView): EscalationOption | undefined => {
  const first = recommended(question)
  const takesWords = ({ guidance, name }: EscalationOption) => guidance !== "none" && !isFinalChoice(question, name)
  return first !== undefined && takesWords(first) ? first : question.options.find(takesWords)
}

const openEditor = (model: GateModel, question: EscalationView, option: EscalationOption): Pressed => {
  const text = writtenNow(model)
  return {
    model: enterMode(model, { _tag: "Editing", option, draft: draftOf(text) }),
    requests: [{ _tag: "Edit", question, text }]
  }
}

const readingKey = (model: GateModel, question: EscalationView, text: string): Pressed => {
  const choice = keyedChoices(question).find(({ key }) => key === text)
  if (choice !== undefined) return takeChoice(model, question, choice.option)
  if (text === forkChoice.key || text === forkKey) return takeChoice(model, question, forkChoice.option)
  const action = gateAction(text)
  switch (action) {
    case "question":
    case "diff":
    case "log":
    case "transcript":
      return showTab(model, action)
    case "attach":
      return { model, requests: [{ _tag: "Look", question, tab: "attach" }] }
    case "write": {
      const option = writesWith(question)
      return option === undefined ? say(model, "No choice here takes guidance.") : openEditor(model, question, option)
    }
    case "skip":
      return skip(model, 1)
    case "pageDown":
      return scrollBy(model, ({ at, page }) => at + page)
    case "lineDown":
      return scrollBy(model, ({ at }) => at + 1)
    case "lineUp":
      return scrollBy(model, ({ at }) => at - 1)
    case "help":
      return stay(enterMode({ ...model, scroll: 0 }, { _tag: "Help" }))
    case "filter":
      return stay(enterMode(model, { _tag: "Filtering" }))
    case undefined:
      return say(model, visibleLine(whyNoChoice(question, text)))
  }
}

const reading = (model: GateModel, key: Key): Pressed => {
  const question = currentQuestion(model)
  if (key._tag === "Typed") {
    if (question !== undefined) return readingKey(model, question, key.text)
    return key.text === "/" ? stay(enterMode(model, { _tag: "Filtering" })) : stay(model)
  }
  switch (key.name) {
    case "enter": {
      if (question === undefined) return stay(model)
      const option = recommended(question)
      return option === undefined
        ? say(model, "No choice is recommended here: press the key of the one you want.")
        : takeChoice(model, question, option)
    }
    case "tab":
      return turnTab(model, 1)
    case "backTab":
      return turnTab(model, -1)
    case "right":
      return skip(model, 1)
    case "left":
      return skip(model, -1)
    case "up":
      return scrollBy(model, ({ at }) => at - 1)
    case "down":
      return scrollBy(model, ({ at }) => at + 1)
    case "pageUp":
      return scrollBy(model, ({ at, page }) => at - page)
    case "pageDown":
      return scrollBy(model, ({ at, page }) => at + page)
    case "start":
      return scrollBy(model, () => 0)
    case "end":
      return scrollBy(model, ({ last }) => last)
    case "escape":
      return setFilter(model, "")
    default:
      return stay(model)
  }
}

/** It is for the commit that is on the screen now: the question may ask about another one before the answer is sent. */
const answerWith = (question: EscalationView | undefined, { name }: EscalationOption, words: string): Answer => {
  const { commit } = question?.evidence ?? {}
  return {
    choice: name,
    ...(words.trim() === "" ? {} : { guidance: words.trim() }),
    ...defined({ commit })
  }
}

/** What was written is on its way to the fork. */
const fork = (model: GateModel, question: EscalationView, words: string): Pressed => ({
  model: {
    ...model,
    mode: { _tag: "Reading" },
    drafts: { ...model.drafts, [question.escalationId]: "" },
    notice: { text: "Forking the session; the question stays open.", tone: "faint" }
  },
  requests: [{ _tag: "Fork", question, words: words.trim() }]
})

const finishWriting = (
  model: GateModel,
  question: EscalationView,
  option: EscalationOption,
  words: string
): Pressed => {
  if (option === forkChoice.option) return fork(model, question, words)
  if (option.guidance === "required" && words.trim() === "") return say(model, "This choice needs your words.")
  if (isFinalChoice(question, option.name)) {
    return stay(enterMode(model, { _tag: "Confirming", option, guidance: words }))
  }
  const written = readAnswerText(option, words)
  if (written._tag === "Wrong") return say(model, written.message)
  const answer = { ...answerWith(question, option, written.words), ...written.agent }
  return {
    model: enterMode(model, { _tag: "Sending", answer, words }),
    requests: [{ _tag: "Send", question, answer }]
  }
}

const edits: ReadonlySet<string> = new Set<Edit>([
  "backspace",
  "delete",
  "left",
  "right",
  "up",
  "down",
  "lineStart",
  "lineEnd",
  "wordBack",
  "clearLine"
])
const isEdit = (name: string): name is Edit => edits.has(name)

const sameAs: Readonly<Record<string, Edit>> = { start: "lineStart", end: "lineEnd" }

const writing = (model: GateModel, mode: Extract<Mode, { _tag: "Writing" }>, key: Key): Pressed => {
  const question = currentQuestion(model)
  if (question === undefined) return stay(backToReading(model))
  const { draft, option } = mode
  const takesWords = option.guidance !== "none"
  const write = (to: typeof draft): Pressed => stay(takesWords ? enterMode(model, { ...mode, draft: to }) : model)
  // As at the prompt without a screen: 'f: words' is fix with words.
  if (key._tag === "Typed") return draft.text === "" && key.text === ":" ? stay(model) : write(insert(draft, key.text))
  switch (key.name) {
    case "enter":
      return finishWriting(model, question, option, draft.text)
    case "newLine":
      return write(insert(draft, "\n"))
    case "editor":
      return takesWords ? openEditor(model, question, option) : stay(model)
    case "escape":
      return stay(backToReading(model))
    default: {
      const what = sameAs[key.name] ?? key.name
      return isEdit(what) ? write(edit(draft, what)) : stay(model)
    }
  }
}

const notAnswered = (model: GateModel, text: string): Pressed =>
  stay({ ...backToReading(model), notice: { text, tone: "faint" } })

/** Only `y` confirms, so that no other key that is pressed by mistake does. */
const confirming = (model: GateModel, mode: Extract<Mode, { _tag: "Confirming" }>, key: Key): Pressed => {
  const { guidance, option } = mode
  if (key._tag === "Named") {
    return key.name === "escape" ? notAnswered(model, "Not answered; the question stays open.") : stay(model)
  }
  const said = saidOfFinal(key.text)
  if (said === "no") return notAnswered(model, "Not answered; the question stays open.")
  if (said === "yes") {
    const answer = answerWith(currentQuestion(model), option, guidance)
    return stay(enterMode(model, { _tag: "Undoable", option, answer, untilMs: model.nowMs + undoMs }))
  }
  const writes = (key.text === "r" || key.text === ":") && option.guidance !== "none"
  return stay(writes ? enterMode(model, { _tag: "Writing", option, draft: draftOf(guidance) }) : model)
}

const undoable = (model: GateModel, key: Key): Pressed => {
  const undoes = key._tag === "Typed" ? key.text.toLowerCase() === undoKey : key.name === "escape"
  return undoes ? notAnswered(model, "Undone; the question stays open.") : stay(model)
}

const filtering = (model: GateModel, key: Key): Pressed => {
  const { filter } = model
  if (key._tag === "Typed") return setFilter(model, filter + key.text)
  switch (key.name) {
    case "backspace":
      return setFilter(model, edit(draftOf(filter), "backspace").text)
    case "enter":
      return stay(enterMode(model, { _tag: "Reading" }))
    case "escape":
      return setFilter(enterMode(model, { _tag: "Reading" }), "")
    default:
      return stay(model)
  }
}

/** The gate after the key, and what is to be done for it. */
export const pressed = (model: GateModel, key: Key): Pressed => {
  const { mode } = model
  if (key._tag === "Named" && key.name === "interrupt") {
    return { model: keepDraft(model), requests: [{ _tag: "Leave", by: "interrupt" }] }
  }
  if (key._tag === "Named" && key.name === "endOfInput") {
    return { model: keepDraft(model), requests: [{ _tag: "Leave", by: "end" }] }
  }
  switch (mode._tag) {
    case "Reading":
      return reading(model, key)
    case "Help":
      return stay(enterMode({ ...model, scroll: undefined }, { _tag: "Reading" }))
    case "Filtering":
      return filtering(model, key)
    case "Writing":
      return writing(model, mode, key)
    case "Confirming":
      return confirming(model, mode, key)
    case "Undoable":
      return undoable(model, key)
    case "Sending":
    case "Editing":
      return stay(model)
  }
}

/** Pasted text is not an answer: it is written, where words are wanted. */
export const pasted = (model: GateModel, text: string): GateModel => {
  const { mode } = model
  if (mode._tag === "Writing" && mode.option.guidance !== "none") {
    return { ...model, notice: undefined, mode: { ...mode, draft: insert(mode.draft, text) } }
  }
  if (mode._tag === "Filtering") return setFilter(model, model.filter + text.split("\n")[0]).model
  return { ...model, notice: { text: "Pasted text is not an answer. Choose first, then paste.", tone: "bad" } }
}
