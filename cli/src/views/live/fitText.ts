/** Fits text to the columns of a terminal: it counts what a terminal shows, such as two columns for an emoji. Pure. */
import cliTruncate from "cli-truncate"
import wrapAnsi from "wrap-ansi"
import { visible } from "../../terminal/visible.ts"

export const clipEnd = (text: string, columns: number): string => cliTruncate(text, Math.max(1, columns))

export const clipStart = (text: string, columns: number): string =>
  cliTruncate(text, Math.max(1, columns), { position: "start" })

const mark = "    | "

const wrapped = (text: string, columns: number): ReadonlyArray<string> =>
  wrapAnsi(text, columns, { hard: true, trim: true }).split("\n")

/** Rows of a text that is folded. */
const foldedRows = 2

/** Our line, broken between words; what follows the break is indented further. */
export const wrappedLine = (line: string, columns: number): ReadonlyArray<string> => {
  const [indent = ""] = /^ */.exec(line) ?? []
  const [first = "", ...rest] = wrapped(line.slice(indent.length), Math.max(8, columns - indent.length - 3))
  return [indent + first, ...rest.map((row) => `${indent}  ${row}`)]
}

/** What is written on a line, without fenced blocks: what a model reports to Reprise is shown as an event. */
export const prose = (text: string): string =>
  text
    .split("```")
    .filter((_, part) => part % 2 === 0)
    .join(" ")
    .trim()
    .replaceAll(/\s+/g, " ")

/** What somebody said, marked so that it looks like no line of ours: the whole of it, or a few lines. */
export const saidLines = (text: string, columns: number, whole: boolean): ReadonlyArray<string> => {
  const width = Math.max(8, columns - mark.length - 1)
  if (whole)
    return visible(text.trimEnd())
      .split("\n")
      .flatMap((line) => wrapped(line, width).map((row) => mark + row))
  const line = prose(visible(text))
  if (line === "") return []
  const rows = wrapped(line, width)
  const shown = rows.slice(0, foldedRows)
  const last = wrapped(shown.at(-1) ?? "", width - 2)[0] ?? ""
  const lines = rows.length <= foldedRows ? shown : [...shown.slice(0, -1), `${last} …`]
  return lines.map((row) => mark + row)
}
