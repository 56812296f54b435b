/** The picture of the gate: exactly as many rows as the terminal has. Pure. */
import { type EscalationView, isStandalone } from "@reprise/protocol"
import { visibleLine } from "../../terminal/visible.ts"
import { since } from "../questionText.ts"
import { currentQuestion, filtered, type GateModel, type Tab, tabs } from "./GateModel.ts"
import { askingRows, pageRows } from "./pages.ts"
import { answerPanel, keyRow, type Panel } from "./panels.ts"
import { clipRow, emptyRow, firstRows, padRow, type Row, row, type Span, span } from "./rows.ts"

export interface Screen {
  readonly rows: ReadonlyArray<Row>
  readonly cursor?: { readonly x: number; readonly y: number }
}

const titles: Readonly<Record<Tab, string>> = {
  question: "Question",
  diff: "Diff",
  log: "Gate log",
  transcript: "Transcript"
}

const shortTitles: Readonly<Record<Tab, string>> = { ...titles, log: "Log" }

const tabRow = ({ tab: shown }: GateModel, columns: number): Row => {
  const names = columns < 50 ? shortTitles : titles
  const spans = tabs.flatMap(
    (tab, index): ReadonlyArray<Span> => [
      span(`${index + 1} ${names[tab]}`, tab === shown ? "selected" : "faint"),
      span(columns < 50 ? " " : "  ")
    ]
  )
  return clipRow(spans, columns)
}

const titleRow = (model: GateModel, columns: number): Row => {
  const { current, filter, mode } = model
  const shown = filtered(model)
  const place = shown.findIndex(({ escalationId }) => escalationId === current) + 1
  const count = shown.length > 1 ? `  ${place} of ${shown.length}` : ""
  const filtering = mode._tag === "Filtering" || filter !== "" ? `  /${visibleLine(filter)}` : ""
  return clipRow(
    [
      span("Your answer is needed", "attention"),
      span(count, "title"),
      span(filtering, "key"),
      span(`  ${current ?? ""}`, "faint")
    ],
    columns
  )
}

const noticeRows = ({ notice }: GateModel, columns: number): ReadonlyArray<Row> =>
  notice === undefined ? [] : [clipRow(row(visibleLine(notice.text), notice.tone), columns)]

const listed = (question: EscalationView, model: GateModel, columns: number): Row => {
  const { current, nowMs } = model
  const age = since(question.raisedAt, nowMs).replace(" ago", "")
  const phase = question.phase === undefined ? "" : ` phase ${question.phase}`
  const kind = isStandalone(question) ? "session" : question.origin
  const isCurrent = question.escalationId === current
  const text = `${isCurrent ? "▸ " : "  "}${age}, ${kind}${phase}, ${visibleLine(question.evidence.planPath ?? question.runId)}`
  return padRow(row(text, isCurrent ? "title" : "faint"), columns)
}

/** The first question of a list of which only so many can be shown. */
const firstListed = (count: number, place: number, height: number): number =>
  Math.max(0, Math.min(place - Math.floor(height / 2), count - height))

const beside = (model: GateModel, right: ReadonlyArray<Row>, columns: number, height: number): ReadonlyArray<Row> => {
  const shown = filtered(model)
  const place = shown.findIndex(({ escalationId }) => escalationId === model.current)
  const first = firstListed(shown.length, place, height)
  const left = shown.slice(first, first + height).map((question) => listed(question, model, columns))
  return Array.from({ length: height }, (_, index) => [
    ...(left[index] ?? padRow(emptyRow, columns)),
    span(" │ ", "faint"),
    ...(right[index] ?? emptyRow)
  ])
}

/** Columns of the list at the left; none where the terminal is too narrow, or there is nothing to choose from. */
const listColumns = (model: GateModel): number =>
  filtered(model).length > 1 && model.size.columns >= 100 ? Math.min(44, Math.floor(model.size.columns / 3)) : 0

const pageColumns = (model: GateModel): number => {
  const list = listColumns(model)
  return list === 0 ? model.size.columns : model.size.columns - list - 3
}

const mostAskingRows = 4

/** Everything but the page, from which follows how many rows are left for it. */
const frame = (model: GateModel, question: EscalationView) => {
  const { columns, rows } = model.size
  const isRoomy = rows >= 16
  const most = Math.max(2, Math.floor(rows / 3))
  const line = isRoomy ? [row("─".repeat(columns), "faint")] : []
  const above = [
    titleRow(model, columns),
    ...firstRows(askingRows(model, question, columns), isRoomy ? mostAskingRows : 1),
    tabRow(model, columns),
    ...line
  ]
  const panel: Panel = answerPanel(model, question, columns, most)
  const below = [...line, ...panel.rows, ...noticeRows(model, columns), keyRow(model, question, columns)]
  return { above, below, panel, cursorFrom: line.length, height: Math.max(1, rows - above.length - below.length) }
}

/** Rows of the page that are shown at once: the last place says that there are more. */
const shownRows = (rows: number, height: number): number => (rows <= height ? height : Math.max(1, height - 1))

/** Where the page can be scrolled to, and how far at once. */
export const scrolling = (model: GateModel): { readonly at: number; readonly last: number; readonly page: number } => {
  const question = currentQuestion(model)
  if (question === undefined) return { at: 0, last: 0, page: 1 }
  const { height } = frame(model, question)
  const rows = pageRows(model, pageColumns(model)).length
  const last = rows <= height ? 0 : rows - shownRows(rows, height)
  const begins = model.tab === "transcript" && model.mode._tag !== "Help" ? last : 0
  return { at: Math.min(last, model.scroll ?? begins), last, page: Math.max(1, height - 2) }
}

const moreMark = (at: number, last: number): Row => {
  if (last === 0) return emptyRow
  return row(at === 0 ? "↓ more below" : at >= last ? "↑ more above" : "↑ more above, ↓ more below", "faint")
}

const emptyScreen = (model: GateModel): Screen => {
  const { columns, rows } = model.size
  const what =
    model.questions.length === 0 ? "No question is open. New ones appear here." : "No question has this word in it."
  const above = [row("Reprise: the gate", "title"), row(what, "faint"), ...noticeRows(model, columns)]
  const blank = Array.from({ length: Math.max(0, rows - above.length - 1) }, () => emptyRow)
  return {
    rows: [...above.map((one) => clipRow(one, columns)), ...blank, keyRow(model, undefined, columns)].slice(0, rows)
  }
}

export const screenOf = (model: GateModel): Screen => {
  const question = currentQuestion(model)
  if (question === undefined) return emptyScreen(model)
  const { size } = model
  const { above, below, cursorFrom, height, panel } = frame(model, question)
  const { at, last } = scrolling(model)
  const list = listColumns(model)
  const page = pageRows(model, pageColumns(model))
  const marked = [...page.slice(at, at + shownRows(page.length, height)), moreMark(at, last)]
  const padded = Array.from({ length: height }, (_, index) => marked[index] ?? emptyRow)
  const body = list === 0 ? padded : beside(model, padded, list, height)
  const rows = [...above, ...body, ...below].map((one) => clipRow(one, size.columns)).slice(0, size.rows)
  const top = above.length + height + cursorFrom
  const cursor = panel.cursor === undefined ? {} : { cursor: { x: panel.cursor.x, y: top + panel.cursor.y } }
  return { rows, ...cursor }
}
