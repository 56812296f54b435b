/** Finds the fenced blocks of a message, in a time that is linear in its length, whatever a model wrote. */

export interface FencedBlock {
  /** Offsets of the first fence's line, and of the end of the last one's. */
  readonly start: number
  readonly end: number
  /** The text between the fences. */
  readonly body: string
}

/** A fence begins a line; the block may be indented or quoted, in any language. */
const fence = /^[ \t>]*(`{3,}|~{3,})(.*)/s

interface Line {
  readonly start: number
  readonly end: number
  /** Absent: the line is not a fence. */
  readonly mark?: string
  readonly closes: boolean
}

const linesOf = (text: string): ReadonlyArray<Line> => {
  let start = 0
  return text.split("\n").map((line) => {
    const [, mark, rest = ""] = fence.exec(line) ?? []
    const found = { start, end: start + line.length, closes: mark !== undefined && rest.trim() === "" }
    start += line.length + 1
    return mark === undefined ? found : { ...found, mark }
  })
}

/** For each line the next one that closes what it opens: the same fence with nothing after it. */
const closingLines = (lines: ReadonlyArray<Line>): ReadonlyArray<number | undefined> => {
  const next = new Map<string, number>()
  return lines
    .map((_, index) => lines.length - 1 - index)
    .map((index) => {
      const { closes, mark } = lines[index] ?? { closes: false }
      if (mark === undefined) return undefined
      const closing = next.get(mark)
      if (closes) next.set(mark, index)
      return closing
    })
    .toReversed()
}

/** The blocks in the order of the text. `\n` ends a line. A fence that is never closed opens none. */
export const fencedBlocks = (text: string): ReadonlyArray<FencedBlock> => {
  const lines = linesOf(text)
  const closing = closingLines(lines)
  const blocks: Array<FencedBlock> = []
  for (let index = 0; index < lines.length; index++) {
    const first = lines[index]
    const closedBy = closing[index]
    const last = closedBy === undefined ? undefined : lines[closedBy]
    if (first === undefined || last === undefined || closedBy === undefined) continue
    blocks.push({ start: first.start, end: last.end, body: text.slice(first.end + 1, last.start) })
    index = closedBy
  }
  return blocks
}
