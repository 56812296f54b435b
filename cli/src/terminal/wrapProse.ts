/** Breaks long lines between words, as terminals do not. Pure. */
import stringWidth from "string-width"
import wrapAnsi from "wrap-ansi"

/** What marks a line as indented, or as somebody else's words: what follows a break is marked, too. */
const lead = /^ *(?:\| )?/

/** Fewer columns than this are no room for marks. */
const narrowest = 10

const wrapLine = (line: string, columns: number): string => {
  if (stringWidth(line) <= columns) return line
  const [found = ""] = lead.exec(line) ?? []
  const mark = columns - found.length < narrowest ? "" : found
  const rows = wrapAnsi(line.slice(mark.length), columns - mark.length, { hard: false, trim: false }).split("\n")
  return rows.map((row, index) => mark + (index === 0 ? row : row.trimStart()).trimEnd()).join("\n")
}

/** A word that is longer than the line, such as a path, stays whole. */
export const wrapProse = (text: string, columns: number): string => {
  if (!Number.isFinite(columns)) return text
  return text
    .split("\n")
    .map((line) => wrapLine(line, columns))
    .join("\n")
}
