/** What each tab of the gate shows, as rows. Pure. */
import { type EscalationView, gateKeysHelp } from "@reprise/protocol"
import { visibleLine } from "../../terminal/visible.ts"
import { askingLines, questionParts } from "../questionText.ts"
import { forkChoice } from "./choices.ts"
import { currentQuestion, evidenceKey, type GateModel, type Tab } from "./GateModel.ts"
import {
  emptyRow,
  quotedLine,
  quotedRows,
  type Row,
  row,
  type SpanTone,
  safeLines,
  textRows,
  wrapLine
} from "./rows.ts"

interface Made {
  readonly depends: ReadonlyArray<unknown>
  readonly rows: ReadonlyArray<Row>
}

/** Texts are wrapped once, not for each picture of the screen. */
const remembering = () => {
  let last: Made | undefined
  return (depends: ReadonlyArray<unknown>, make: () => ReadonlyArray<Row>): ReadonlyArray<Row> => {
    if (last?.depends.every((one, index) => one === depends[index])) return last.rows
    last = { depends, rows: make() }
    return last.rows
  }
}

const remembered = remembering()
/** What is heard now is added to it many times. */
const said = remembering()

const questionRows = (question: EscalationView, nowMs: number, columns: number): ReadonlyArray<Row> =>
  questionParts(question, nowMs).flatMap((part) =>
    part._tag === "line" ? textRows(part.text, columns) : [row(part.title, "title"), ...quotedRows(part.text, columns)]
  )

const headerLine = /^(?:diff --git|\+\+\+|---|index |new file|deleted file|rename |similarity )/
const signTones: ReadonlyArray<readonly [sign: string, tone: SpanTone]> = [
  ["@@", "hunk"],
  ["+", "added"],
  ["-", "removed"]
]

/** Within a hunk only the sign counts: a file may hold what looks like git's words about another one. */
const diffRows = (text: string, columns: number): ReadonlyArray<Row> => {
  let inHunk = false
  return safeLines(text).flatMap((line) => {
    inHunk = line.startsWith("@@ ") || (inHunk && !line.startsWith("diff --git "))
    const isHeader = !inHunk && headerLine.test(line)
    const tone = isHeader ? "title" : (signTones.find(([sign]) => line.startsWith(sign))?.[1] ?? "plain")
    return wrapLine(line, columns).map((one) => row(one, tone))
  })
}

/** A conversation is read from its beginning. */
const longestConversation = 512 * 1024

/** Titles of ours begin a line, and what was said is indented (`conversationText`). */
const conversationRows = (text: string, columns: number): ReadonlyArray<Row> =>
  safeLines(text, longestConversation).flatMap((line) =>
    line.startsWith(" ") ? quotedLine(line.slice(2), columns) : textRows(line, columns, "title")
  )

const transcriptRows = (
  { live }: GateModel,
  question: EscalationView,
  text: string | undefined,
  columns: number
): ReadonlyArray<Row> => {
  const now = live[question.runId] ?? ""
  return [
    ...(text === undefined
      ? [row("Reading …", "faint")]
      : said([text, columns], () => conversationRows(text, columns))),
    ...(now === "" ? [] : [row("Now", "title"), ...quotedRows(now, columns)])
  ]
}

const { attach, enter, filter, skip, tabs } = gateKeysHelp

const keysHelp: ReadonlyArray<readonly [keys: string, does: string]> = [
  ["the key of a choice", "chooses it; then write guidance if you like, and Enter sends it"],
  enter,
  ["Esc", "goes back; what you wrote is kept"],
  tabs,
  ["Tab, Shift-Tab", "next or previous tab"],
  ["↑ ↓ PgUp PgDn Space", "scroll; Home and End"],
  skip,
  filter,
  ["e", "writes in your editor ($VISUAL or $EDITOR) for the recommended choice"],
  attach,
  [forkChoice.key, "tries again from here, in a fork and a worktree; the question stays open"],
  ["Ctrl-C", "leaves; every question stays open"]
]

export const helpRows = (columns: number): ReadonlyArray<Row> => [
  row("Keys", "title"),
  emptyRow,
  ...keysHelp.flatMap(([keys, does]) => textRows(`${keys.padEnd(22)} ${does}`, columns)),
  emptyRow,
  ...[
    "While you write: Alt-Enter begins a new line, Ctrl-G opens your editor, pasted text keeps its lines.",
    "A choice that cannot be taken back asks for y, and can be undone with u for a few seconds."
  ].flatMap((line) => textRows(line, columns))
]

const pageOf = (model: GateModel, question: EscalationView, tab: Tab, columns: number): ReadonlyArray<Row> => {
  if (tab === "question") return questionRows(question, model.nowMs, columns)
  const text = model.evidence[evidenceKey(question.escalationId, tab)]
  if (tab === "transcript") return transcriptRows(model, question, text, columns)
  if (text === undefined) return [row("Reading …", "faint")]
  return tab === "diff" ? diffRows(text, columns) : quotedRows(text, columns)
}

/** All rows of what is read, of which the screen shows a part. */
export const pageRows = (model: GateModel, columns: number): ReadonlyArray<Row> => {
  if (model.mode._tag === "Help") return helpRows(columns)
  const question = currentQuestion(model)
  if (question === undefined) return []
  const { evidence, live, nowMs, tab } = model
  const text = evidence[evidenceKey(question.escalationId, tab)]
  const now = tab === "transcript" ? live[question.runId] : undefined
  return remembered([question, tab, text, now, columns, Math.floor(nowMs / 60_000)], () =>
    pageOf(model, question, tab, columns)
  )
}

/** Who asks, for how long, where, and with which model. */
export const askingRows = (
  { nowMs, sessions }: GateModel,
  question: EscalationView,
  columns: number
): ReadonlyArray<Row> => {
  const session = sessions[question.escalationId]
  const model = session?.model === undefined ? "" : `, ${visibleLine(session.model)}`
  const [who = "", where = ""] = askingLines(question, nowMs)
  return [...textRows(`${who}${model}`, columns), ...textRows(where, columns, "faint")]
}
