/** Where something is in a plan's text, in the units that editors use. */
import { Schema } from "effect"

/**
 * A position in a plan's text. `line` and `column` count from 1 (a byte order mark is not counted, as in editors);
 * `offset` counts UTF-16 units from 0 in the whole text, byte order mark included.
 */
export const Position = Schema.Struct({ line: Schema.Int, column: Schema.Int, offset: Schema.Int })
export type Position = typeof Position.Type

export const byteOrderMark = "\uFEFF"

/** The position of an offset, for checks that run before the markdown parser. Takes time linear in the offset. */
export const positionAt = (text: string, offset: number): Position => {
  const start = text.startsWith(byteOrderMark) ? 1 : 0
  const lineEnd = /\r\n|\n|\r/g
  lineEnd.lastIndex = start
  let line = 1
  let lineStart = start
  for (let match = lineEnd.exec(text); match !== null && lineEnd.lastIndex <= offset; match = lineEnd.exec(text)) {
    line += 1
    lineStart = lineEnd.lastIndex
  }
  return { line, column: offset - lineStart + 1, offset }
}
