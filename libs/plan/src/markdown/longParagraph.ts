/**
 * Where a paragraph may be too long for the markdown parser, which takes quadratic time in its lines. What a paragraph is only
 * the parser knows, so this counts the lines between two that end any paragraph for certain, whatever stands around them. Lines of
 * code count, too: whether a line is code depends on all lines above it.
 */

/** In UTF-16 units. */
export const maxParagraphLength = 16 * 1024
export const maxParagraphLines = 1000

export interface Paragraph {
  /** The number of its first line, from 1. */
  readonly line: number
  readonly lines: number
  /** In UTF-16 units, with one for each line's end. */
  readonly length: number
}

/** Without a tab, which may be four blanks: after those a marker is text. */
const blankLine = /^ {0,3}(?:> {0,4})*[ \t]*$/
const heading = /^ {0,3}#{1,6}(?:[ \t]|$)/
const bullet = /^ {0,3}[-+*] +[^ \t]/
const numbered = /^( {0,3})(\d{1,9})[.)] +[^ \t]/

/**
 * In order, parts of the text that together hold each of its paragraphs wholly, none longer than need be. A numbered item ends a
 * paragraph only when it is the first of a list, or when the line above it is another item of this list.
 */
export function* paragraphsOf(text: string): Generator<Paragraph> {
  let line = 0
  let part = { line: 1, lines: 0, length: 0 }
  /** The indentation of the numbered item on the line above; unlimited after a blank line. */
  let above = -1
  for (const content of text.split(/\r\n|\n|\r/)) {
    line += 1
    const isBlank = blankLine.test(content)
    const item = numbered.exec(content)
    const indentation = item?.[1]?.length ?? -1
    const isItem = item !== null && (Number(item[2]) === 1 || indentation <= above)
    if (isBlank || isItem || heading.test(content) || bullet.test(content)) {
      if (part.lines > 0) yield part
      part = { line: isBlank ? line + 1 : line, lines: 0, length: 0 }
    }
    if (!isBlank) part = { line: part.line, lines: part.lines + 1, length: part.length + content.length + 1 }
    above = isBlank ? 3 : isItem ? indentation : -1
  }
  if (part.lines > 0) yield part
}

/** The number of the first line of a paragraph that may be too long. */
export const longParagraph = (text: string): number | undefined => {
  for (const { length, line, lines } of paragraphsOf(text)) {
    if (length > maxParagraphLength || lines > maxParagraphLines) return line
  }
  return undefined
}
