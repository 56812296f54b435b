/** Breaks long lines between words, as terminals do not. Pure. */
import stringWidth from "string-width"
import wrapAnsi from "wrap-ansi"

/** A word that is longer than the line, such as a path, stays whole. */
export const wrapProse = (text: string, columns: number): string => {
  if (!Number.isFinite(columns)) return text
  return text
    .split("\n")
    .map((line) => (stringWidth(line) <= columns ? line : wrapAnsi(line, columns, { hard: false, trim: false })))
    .map((line) => line.replaceAll(/ *\n */g, "\n"))
    .join("\n")
}
