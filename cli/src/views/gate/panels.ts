/** The parts of the screen below what is read: the choices, what is written, and the keys that are valid now. Pure. */
import { type EscalationOption, type EscalationView, keyedChoices, recommended } from "@reprise/protocol"
import stringWidth from "string-width"
import { visibleLine } from "../../terminal/visible.ts"
import { consequence } from "./choices.ts"
import type { Draft } from "./Draft.ts"
import { filtered, type GateModel } from "./GateModel.ts"
import { clipRow, emptyRow, firstRows, type Row, row, safeLines, span, textRows, wrapLine } from "./rows.ts"

/** A panel, and where the human writes in it. */
export interface Panel {
  readonly rows: ReadonlyArray<Row>
  readonly cursor?: { readonly x: number; readonly y: number }
}

const choiceRow = (question: EscalationView, { key, option }: ReturnType<typeof keyedChoices>[number]): Row => [
  span(` ${key === "" ? " " : key} `, "key"),
  span(` ${visibleLine(option.label)}`),
  ...(recommended(question) === option ? [span("  Enter", "good")] : [])
]

const choicesPanel = (question: EscalationView, columns: number, most: number): Panel => ({
  rows: firstRows(
    keyedChoices(question).map((choice) => clipRow(choiceRow(question, choice), columns)),
    most
  )
})

/** Lines around the cursor that are looked at: the text may be long, the panel is not. */
const linesAround = 60

interface Wrapped {
  readonly rows: ReadonlyArray<string>
  /** The row and the column of the cursor. */
  readonly x: number
  readonly y: number
}

const wrapDraft = ({ at, text }: Draft, columns: number): Wrapped => {
  const before = text.slice(0, at).split("\n")
  const after = text.slice(at).split("\n")
  const above = before.slice(Math.max(0, before.length - 1 - linesAround), -1)
  const [rest = "", ...below] = after
  const head = before.at(-1) ?? ""
  const rowsAbove = above.flatMap((line) => wrapLine(line, columns))
  const line = wrapLine(head + rest, columns)
  const upTo = wrapLine(head, columns)
  return {
    rows: [...rowsAbove, ...line, ...below.slice(0, linesAround).flatMap((one) => wrapLine(one, columns))],
    x: Math.min(columns, stringWidth(upTo.at(-1) ?? "")),
    y: rowsAbove.length + upTo.length - 1
  }
}

const mostPreviewRows = 3

const previewRows = (question: EscalationView, option: EscalationOption, words: string, columns: number) =>
  firstRows(
    safeLines(consequence(question, option, words)).flatMap((line) => textRows(line, columns, "attention")),
    mostPreviewRows
  )

const titleRow = (option: EscalationOption, columns: number): Row =>
  clipRow(row(visibleLine(option.label), "title"), columns)

const hintOf = ({ agent, guidance, name }: EscalationOption): string => {
  if (name === "change-model") return "The model's name, such as provider/model."
  if (agent === true) return "Guidance, if any. Another agent first: --runtime, --model, --variant NAME:"
  return guidance === "required" ? "Say it in your own words." : "Guidance, if you want to give some."
}

const writingPanel = (
  question: EscalationView,
  option: EscalationOption,
  draft: Draft,
  columns: number,
  most: number
): Panel => {
  const preview = previewRows(question, option, draft.text, columns)
  const title = titleRow(option, columns)
  if (option.guidance === "none") return { rows: [title, ...preview] }
  const { rows, x, y } = wrapDraft(draft, columns - 4)
  const height = Math.max(1, Math.min(rows.length, most - preview.length - 1))
  const first = Math.min(Math.max(0, y - height + 1), rows.length - height)
  const shown = rows.slice(first, first + height)
  const text =
    draft.text === ""
      ? [[span("> ", "key"), span(hintOf(option), "faint")]]
      : shown.map((one, index): Row => [span(first + index === 0 ? "> " : "  ", "key"), span(one)])
  return { rows: [title, ...text, ...preview], cursor: { x: x + 2, y: 1 + y - first } }
}

const secondsLeft = (untilMs: number, nowMs: number): number => Math.max(0, Math.ceil((untilMs - nowMs) / 1000))

/** What the question's choices are, or what is done with the one that was taken. */
export const answerPanel = (
  { mode, nowMs }: GateModel,
  question: EscalationView,
  columns: number,
  most: number
): Panel => {
  switch (mode._tag) {
    case "Writing":
      return writingPanel(question, mode.option, mode.draft, columns, most)
    case "Confirming":
      return {
        rows: [
          [...titleRow(mode.option, columns - 16), span(" Are you sure?", "bad")],
          ...previewRows(question, mode.option, mode.guidance, columns)
        ]
      }
    case "Undoable":
      return {
        rows: [
          titleRow(mode.option, columns),
          clipRow(row(`Will be sent in ${secondsLeft(mode.untilMs, nowMs)} s. u = undo`, "attention"), columns)
        ]
      }
    case "Sending":
      return { rows: [clipRow(row(`Sending: ${visibleLine(mode.answer.choice)} …`, "faint"), columns)] }
    case "Editing":
      return { rows: [titleRow(mode.option, columns), row("Your editor is open.", "faint")] }
    default:
      return choicesPanel(question, columns, most)
  }
}

/** The ones that matter most first: a narrow terminal shows only those. */
const readingKeys = (model: GateModel, question: EscalationView): ReadonlyArray<string> => [
  ...(recommended(question) === undefined ? [] : ["Enter recommended"]),
  "? help",
  "Ctrl-C leave",
  ...(filtered(model).length > 1 ? ["s skip"] : []),
  "1-4 tabs",
  "↑↓ scroll",
  "e editor",
  "a attach",
  ...(model.questions.length > 1 ? ["/ filter"] : [])
]

const keysNow = (model: GateModel, question: EscalationView | undefined): ReadonlyArray<string> => {
  const { mode } = model
  switch (mode._tag) {
    case "Help":
      return ["any key goes back"]
    case "Filtering":
      return ["Enter keeps the filter", "Esc shows all"]
    case "Writing":
      return mode.option.guidance === "none"
        ? ["Enter send", "Esc back"]
        : ["Enter send", "Esc back", "Alt-Enter new line", "Ctrl-G editor"]
    case "Confirming":
      return ["y yes", "n no", ...(mode.option.guidance === "none" ? [] : ["r say why"])]
    case "Undoable":
      return ["u undo"]
    default:
      return question === undefined ? ["Ctrl-C leave"] : readingKeys(model, question)
  }
}

const separator = " · "

/** The keys that are valid now, as many as fit in these columns. */
export const keyRow = (model: GateModel, question: EscalationView | undefined, columns: number): Row => {
  let line = ""
  for (const key of keysNow(model, question)) {
    const longer = line === "" ? key : `${line}${separator}${key}`
    if (stringWidth(longer) > columns) break
    line = longer
  }
  return line === "" ? emptyRow : row(line, "faint")
}
