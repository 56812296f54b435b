/** Tables for people, fitted to the width of the terminal. */
import { stripVTControlCharacters } from "node:util"
import Table from "cli-table3"
import { dataColumns } from "../terminal/Printer.ts"
import { visible } from "../terminal/visible.ts"

type Cell = string | number
type Row = ReadonlyArray<Cell>

/** Longer cells are cut: measuring the width of what a terminal shows takes time in the square of the length. */
const longestCell = 2000

const shortened = (cell: Cell): Cell =>
  typeof cell === "string" && cell.length > longestCell ? `${cell.slice(0, longestCell)}…` : cell

const longestFirstLine = 60

/** The first line of a text that others wrote, for a cell; what is left out is marked. */
export const firstLine = (text: string): string => {
  const [line = "", ...more] = visible(text).trim().split("\n")
  const letters = [...line.trimEnd()]
  if (letters.length > longestFirstLine) return `${letters.slice(0, longestFirstLine - 1).join("")}…`
  return more.length === 0 ? letters.join("") : `${letters.join("")} …`
}

/** A column is not wrapped to less than this. */
const narrowest = 20

const draw = (
  head: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<Table.Cell>>,
  more: Table.TableConstructorOptions = {}
) => {
  const table = new Table({ head: [...head], style: { head: [], border: [] }, ...more })
  for (const row of rows) table.push([...row])
  return table.toString()
}

/** The width of each column with its padding, read from the upper border. */
const widthsOf = (drawn: string): ReadonlyArray<number> =>
  (drawn.split("\n")[0] ?? "")
    .slice(1, -1)
    .split("┬")
    .map(({ length }) => length)

/** Each row as a list with one line per cell, for terminals that are too narrow for a table. */
const asList = (head: ReadonlyArray<string>, rows: ReadonlyArray<Row>): string => {
  const names = Math.max(...head.map(({ length }) => length))
  return rows
    .map((row) =>
      row
        .flatMap((cell, n) => (cell === "" ? [] : [`${(head[n] ?? "").padEnd(names)}  ${cell}`.trimStart()]))
        .join("\n")
    )
    .join("\n\n")
}

/**
 * A table as wide as its content if it fits into the terminal; otherwise its widest column is wrapped, and if that is not
 * enough each row becomes a list. Ids are broken only as a last resort. `columns`: the width of the terminal.
 */
export const table = (head: ReadonlyArray<string>, given: ReadonlyArray<Row>, columns = dataColumns()): string => {
  const rows = given.map((row) => row.map(shortened))
  const whole = draw(head, rows)
  const widths = widthsOf(whole)
  const excess = widths.reduce((sum, width) => sum + width + 1, 1) - columns
  if (excess <= 0) return whole
  const widest = widths.indexOf(Math.max(...widths))
  const left = (widths[widest] ?? 0) - excess
  if (left < narrowest) return asList(head, rows)
  // At word boundaries, too long a word would lose its end; such a cell is broken anywhere.
  const wrapped = (cell: Cell): Table.CellOptions => {
    const content = String(cell)
    const words = stripVTControlCharacters(content).split(/\s+/)
    return { content, wordWrap: true, wrapOnWordBoundary: words.every(({ length }) => length <= left - 2) }
  }
  return draw(
    head,
    rows.map((row) => row.map((cell, n) => (n === widest ? wrapped(cell) : cell))),
    { colWidths: widths.map((width, n) => (n === widest ? left : width)) }
  )
}
