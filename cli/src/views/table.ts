/** Tables for people, fitted to the width of the terminal. */
import { stripVTControlCharacters } from "node:util"
import Table from "cli-table3"
import stringWidth from "string-width"
import { dataColumns } from "../terminal/Printer.ts"
import { visible } from "../terminal/visible.ts"

type Cell = string | number
type Row = ReadonlyArray<Cell>

/** Longer cells are cut: measuring the width of what a terminal shows takes quadratic time in the length. */
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

const ascii = /^[\x20-\x7e]*$/
const widthOf = (text: string): number =>
  ascii.test(text) ? text.length : Math.max(...text.split("\n").map((line) => stringWidth(line)))

/** The width of each column with its padding, as wide as its content. */
const widthsOf = (rows: ReadonlyArray<Row>): ReadonlyArray<number> => {
  const widths: Array<number> = []
  for (const row of rows) {
    for (const [n, cell] of row.entries()) widths[n] = Math.max(widths[n] ?? 0, widthOf(String(cell)) + 2)
  }
  return widths
}

/** Wraps and aligns cells of several lines. It takes a minute for ten thousand rows. */
const drawLines = (rows: ReadonlyArray<ReadonlyArray<Table.Cell>>, widths: ReadonlyArray<number>) => {
  const [head = [], ...others] = rows
  const more = { colWidths: [...widths] }
  const table = new Table({ head: head.map(String), style: { head: [], border: [] }, ...more })
  for (const row of others) table.push([...row])
  return table.toString()
}

/** The same for cells of one line that are not wrapped. */
const draw = (rows: ReadonlyArray<Row>, widths: ReadonlyArray<number>): string => {
  if (rows.some((row) => row.some((cell) => String(cell).includes("\n")))) return drawLines(rows, widths)
  const border = (left: string, between: string, right: string) =>
    `${left}${widths.map((width) => "─".repeat(width)).join(between)}${right}`
  const line = (row: Row) =>
    `│${widths
      .map((width, n) => {
        const text = String(row[n] ?? "")
        return ` ${text}${" ".repeat(Math.max(0, width - 1 - widthOf(text)))}`
      })
      .join("│")}│`
  const lines = rows.map(line).join(`\n${border("├", "┼", "┤")}\n`)
  return `${border("┌", "┬", "┐")}\n${lines}\n${border("└", "┴", "┘")}`
}

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
  const all = [head, ...rows]
  const widths = widthsOf(all)
  const excess = widths.reduce((sum, width) => sum + width + 1, 1) - columns
  if (excess <= 0) return draw(all, widths)
  const widest = widths.indexOf(Math.max(...widths))
  const left = (widths[widest] ?? 0) - excess
  if (left < narrowest) return asList(head, rows)
  // At word boundaries, too long a word would lose its end; such a cell is broken anywhere.
  const wrapped = (cell: Cell): Table.CellOptions => {
    const content = String(cell)
    const words = stripVTControlCharacters(content).split(/\s+/)
    return { content, wordWrap: true, wrapOnWordBoundary: words.every(({ length }) => length <= left - 2) }
  }
  return drawLines(
    [head, ...rows.map((row) => row.map((cell, n) => (n === widest ? wrapped(cell) : cell)))],
    widths.map((width, n) => (n === widest ? left : width))
  )
}
