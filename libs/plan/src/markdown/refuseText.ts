/** Guards the markdown parser: refuses binary data, and shapes that would take very long to parse. */
import { Option } from "effect"
import { type PlanProblem, planProblem } from "../plan/PlanProblem.ts"
import { longParagraph, maxParagraphLength, maxParagraphLines } from "./longParagraph.ts"
import { byteOrderMark, positionAt } from "./Position.ts"

/** In UTF-16 units. The slowest plan is read in two seconds; every step of its run carries it. */
export const maxPlanLength = 256 * 1024
/** In UTF-16 units: the largest line, paragraph, code block or top-level list item. */
export const maxBlockLength = 128 * 1024
/** List items and quotes in one block. */
export const maxBlockMarkers = 512
/** The parser's time depends on lines, list items and quotes more than on characters. */
const maxLines = 16 * 1024
const maxMarkers = 16 * 1024
const maxBlankLines = 1000

const lineEnd = /\r\n|\n|\r/

// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression looks for control characters
const notText = /[\0-\x08\x0B\x0E-\x1F\x7F-\x9F\uFEFF\uFFFD]/g
/** At the beginning of a line, as markdown has lines. */
const manyMarkers = /(?<![^\r\n])(?:[ \t]*(?:>|[-+*][ \t]|\d{1,9}[.)][ \t])){100}/

/** The first reason why the text cannot be parsed at all, if any. */
export const refuseText = (text: string): Option.Option<PlanProblem> => {
  if (text.length > maxPlanLength) {
    return Option.some(
      planProblem(
        "too-large",
        { line: 1, column: 1 },
        `the plan has ${text.length} characters, more than the ${maxPlanLength} allowed; split it into several plans, or move long material into files that the plan refers to.`
      )
    )
  }
  return Option.firstSomeOf([refuseCharacters(text), refuseShape(text)])
}

const refuseCharacters = (text: string): Option.Option<PlanProblem> => {
  notText.lastIndex = text.startsWith(byteOrderMark) ? 1 : 0
  const match = notText.exec(text)
  if (match !== null) {
    const at = positionAt(text, match.index)
    return Option.some(
      match[0] === "\uFFFD"
        ? planProblem(
            "not-utf8",
            at,
            "the text contains a replacement character, so it was not UTF-8; save it as UTF-8."
          )
        : match[0] === byteOrderMark
          ? planProblem("binary", at, "a byte order mark inside the text hides the characters after it; delete it.")
          : planProblem("binary", at, `control character ${codePoint(match[0])} is not text; delete it.`)
    )
  }
  const lone = text.isWellFormed() ? -1 : text.search(/\p{Cs}/u)
  return lone < 0
    ? Option.none()
    : Option.some(
        planProblem("not-utf8", positionAt(text, lone), "this is half of a character; save the text as UTF-8.")
      )
}

const codePoint = (character: string) => `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`

/** The first item or quote of a line, if any, and those that it begins at once. */
const marker = /[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])(?![^ \t\r\n]))/y

/** How many list items and quotes a line may begin. */
export const markersOf = (line: string): number => {
  let count = 0
  marker.lastIndex = 0
  while (marker.test(line)) count += 1
  return count
}

/** The first line beyond the limits, and what they are of. */
const beyondLimits = (text: string): { readonly line: number; readonly what: string } | undefined => {
  let markers = 0
  for (const [index, line] of text.split(lineEnd).entries()) {
    markers += markersOf(line)
    if (index >= maxLines) return { line: index + 1, what: `${maxLines} lines` }
    if (markers > maxMarkers) return { line: index + 1, what: `${maxMarkers} list items and quotes` }
  }
  return undefined
}

const refuseShape = (text: string): Option.Option<PlanProblem> => {
  const long = longLine(text)
  if (long !== undefined) return Option.some(blockTooLarge({ line: long, column: 1 }))
  const paragraph = longParagraph(text)
  if (paragraph !== undefined) {
    return Option.some(
      planProblem(
        "too-large",
        { line: paragraph, column: 1 },
        `more than ${maxParagraphLength} characters or ${maxParagraphLines} lines follow without a blank line; divide them by blank lines, or move them into a file that the plan refers to.`
      )
    )
  }
  const blank = manyBlankLines(text)
  if (blank !== undefined) {
    const at = positionAt(text, blank)
    return Option.some(
      planProblem(
        "blank-lines",
        at,
        `more than ${maxBlankLines} blank lines follow; delete them (is the file damaged?).`
      )
    )
  }
  const beyond = beyondLimits(text)
  if (beyond !== undefined) {
    return Option.some(
      planProblem(
        "too-large",
        { line: beyond.line, column: 1 },
        `the plan has more than the ${beyond.what} allowed; split it into several plans, or move long material into files that the plan refers to.`
      )
    )
  }
  const nested = text.search(manyMarkers)
  return nested < 0
    ? Option.none()
    : Option.some(
        planProblem("too-deep", positionAt(text, nested), "this line nests 100 or more lists or quotes; nest fewer.")
      )
}

export const blockTooLarge = (at: { readonly line: number; readonly column: number }): PlanProblem =>
  planProblem(
    "too-large",
    at,
    `the block that begins here is longer than ${maxBlockLength} characters, or has more than ${maxBlockMarkers} list items and quotes; move it into a file that the plan refers to.`
  )

/** Where the line ends after which too many are blank. */
const manyBlankLines = (text: string): number | undefined => {
  let before: number | undefined
  let blank = 0
  let start = 0
  for (const { 0: lineEnd, index } of text.matchAll(/\r\n|\n|\r/g)) {
    if (before !== undefined && /^[ \t]*$/.test(text.slice(start, index))) blank += 1
    else {
      before = index
      blank = 0
    }
    if (blank === maxBlankLines) return before
    start = index + lineEnd.length
  }
  return undefined
}

/** The number of the first line that is too long. */
const longLine = (text: string): number | undefined => {
  let line = 1
  let start = 0
  for (const { index } of text.matchAll(/\r\n|\n|\r/g)) {
    if (index - start > maxBlockLength) return line
    line += 1
    start = index
  }
  return text.length - start > maxBlockLength ? line : undefined
}
