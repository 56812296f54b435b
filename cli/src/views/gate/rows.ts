/** Rows of the screen: pieces of text, each with its tone. Pure. */
import stringWidth from "string-width"
import wrapAnsi from "wrap-ansi"
import { visible } from "../../terminal/visible.ts"
import { clipEnd } from "../live/fitText.ts"

export type SpanTone =
  | "plain"
  | "title"
  | "good"
  | "bad"
  | "attention"
  | "faint"
  | "key"
  | "selected"
  | "added"
  | "removed"
  | "hunk"

export interface Span {
  readonly text: string
  readonly tone: SpanTone
}

export type Row = ReadonlyArray<Span>

export const span = (text: string, tone: SpanTone = "plain"): Span => ({ text, tone })
export const row = (text: string, tone: SpanTone = "plain"): Row => [span(text, tone)]
export const emptyRow: Row = []

export const widthOf = (spans: Row): number => spans.reduce((sum, { text }) => sum + stringWidth(text), 0)

/** As many of the pieces as fit; the last one is cut. */
export const clipRow = (spans: Row, columns: number): Row => {
  let left = columns
  const shown: Array<Span> = []
  for (const one of spans) {
    if (left <= 0) break
    const width = stringWidth(one.text)
    shown.push(width <= left ? one : { ...one, text: clipEnd(one.text, left) })
    left -= width
  }
  return shown
}

/** The row in exactly so many columns. */
export const padRow = (spans: Row, columns: number): Row => {
  const clipped = clipRow(spans, columns)
  return [...clipped, span(" ".repeat(Math.max(0, columns - widthOf(clipped))))]
}

/** Each character takes one column. */
const plainAscii = /^[\u0020-\u007e]*$/

/** A line in as many rows as it needs. Blanks at its beginning are kept. */
export const wrapLine = (line: string, columns: number): ReadonlyArray<string> => {
  const width = Math.max(4, columns)
  if (line.length <= width && plainAscii.test(line)) return [line]
  return wrapAnsi(line, width, { hard: true, trim: false }).split("\n")
}

/** The most characters of a text that are shown: to wrap more takes time. */
const longestShown = 64 * 1024

/** The end of a long text: what was said last. */
const bounded = (text: string, longest: number): string =>
  text.length <= longest ? text : `… ${text.length - longest} characters before this …\n${text.slice(-longest)}`

/** Untrusted text, made safe, line by line. */
export const safeLines = (text: string, longest = longestShown): ReadonlyArray<string> =>
  visible(bounded(text, longest)).replaceAll("\t", "  ").split("\n")

/** Untrusted text with a mark on each row, so that none looks like a row of Reprise. */
export const quotedRows = (text: string, columns: number): ReadonlyArray<Row> =>
  safeLines(text).flatMap((line) => quotedLine(line, columns))

export const quotedLine = (line: string, columns: number): ReadonlyArray<Row> =>
  wrapLine(line, columns - 4).map((one): Row => [span("  │ ", "faint"), span(one)])

export const textRows = (text: string, columns: number, tone: SpanTone = "plain"): ReadonlyArray<Row> =>
  text.split("\n").flatMap((line) =>
    wrapAnsi(line, Math.max(4, columns), { hard: true })
      .split("\n")
      .map((one) => row(one, tone))
  )

/** The first rows; the last of them says that there are more. */
export const firstRows = (rows: ReadonlyArray<Row>, count: number): ReadonlyArray<Row> =>
  rows.length <= count
    ? rows
    : [...rows.slice(0, Math.max(0, count - 1)), row(`… and ${rows.length - count + 1} more`, "faint")]
