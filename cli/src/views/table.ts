/** Tables for people, in the width of their terminal. */
import { stripVTControlCharacters } from "node:util"
import Table from "cli-table3"
import { dataColumns } from "../terminal/Printer.ts"

type Cell = string | number
type Row = ReadonlyArray<Cell>

/** A column that is narrower than this reads badly. */
const readable = 20

const draw = (
  head: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<Table.Cell>>,
  more: Table.TableConstructorOptions = {}
) => {
  const table = new Table({ head: [...head], style: { head: [], border: [] }, ...more })
  for (const row of rows) table.push([...row])
  return table.toString()
}

/** Of each column with its padding, read from the upper border. */
const widthsOf = (drawn: string): ReadonlyArray<number> =>
  (drawn.split("\n")[0] ?? "")
    .slice(1, -1)
    .split("┬")
    .map(({ length }) => length)

/** One line for each cell, where columns have no room beside each other. */
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
 * As wide as it has to be, where there is room; else its widest column is wrapped; where that does not do, each row is a
 * list. Ids stay whole as long as they can. `columns`: the width of the terminal.
 */
export const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<Row>, columns = dataColumns()): string => {
  const whole = draw(head, rows)
  const widths = widthsOf(whole)
  const excess = widths.reduce((sum, width) => sum + width + 1, 1) - columns
  if (excess <= 0) return whole
  const widest = widths.indexOf(Math.max(...widths))
  const left = (widths[widest] ?? 0) - excess
  if (left < readable) return asList(head, rows)
  // What has no blanks in it would lose its end; and only cells without colours can be cut anywhere.
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
