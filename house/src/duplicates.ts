/** Repeated code: the same six lines in two places, not counting imports, comments and lines without a word. */
import type { Sources } from "./sources.ts"

const windowLines = 6

interface Line {
  readonly place: string
  readonly text: string
}

export interface Repeat {
  /** `file:line` of each place at which the six lines begin. */
  readonly places: ReadonlyArray<string>
}

/** The lines that count. An import that spans lines is left out up to its `from`. */
const significantLines = (file: string, text: string): ReadonlyArray<Line> => {
  const code = text
    .replace(/^import\b[^"]*"[^"]*"|^export \{[^}]*\} from "[^"]*"/gm, blank)
    .replace(/\/\*[\s\S]*?\*\//g, blank)
  return code
    .split("\n")
    .map((line, index) => ({ place: `${file}:${index + 1}`, text: line.trim() }))
    .filter(({ text }) => /\w/.test(text) && !text.startsWith("//"))
}

/** Keeps the line breaks, so that line numbers stay right. */
const blank = (removed: string) => removed.replace(/[^\n]/g, "")

/** Every run of six lines that stands in more than one place. */
export const findRepeats = (sources: Sources): ReadonlyArray<Repeat> => {
  const seen = new Map<string, Array<string>>()
  for (const [file, text] of sources) {
    const lines = significantLines(file, text)
    for (let start = 0; start + windowLines <= lines.length; start += 1) {
      const key = lines
        .slice(start, start + windowLines)
        .map((line) => line.text)
        .join("\n")
      const place = lines[start]?.place ?? file
      seen.set(key, [...(seen.get(key) ?? []), place])
    }
  }
  return [...seen.values()].filter((places) => places.length > 1).map((places) => ({ places }))
}
