/** The figures of a night, for people. Pure. */
import { stripVTControlCharacters } from "node:util"

export interface StageResult {
  readonly name: string
  /** The exit code. */
  readonly code: number
  readonly seconds: number
  /** The last line that it printed, which is its figure. */
  readonly last: string
}

const minutes = (seconds: number): string =>
  `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`

/** A row for each stage, and how many passed. */
export const renderTable = (results: ReadonlyArray<StageResult>): string => {
  const rows = results.map(({ code, last, name, seconds }) => [
    name,
    code === 0 ? "passed" : `failed (${code})`,
    minutes(seconds),
    stripVTControlCharacters(last)
  ])
  const all = [["stage", "result", "minutes", "last line"], ...rows]
  const width = (column: number) => Math.max(...all.map((row) => row[column]?.length ?? 0))
  const widths = [width(0), width(1), width(2)]
  const lines = all.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd()
  )
  const passed = results.filter(({ code }) => code === 0).length
  return `${lines.join("\n")}\n${passed} passed, ${results.length - passed} failed\n`
}
