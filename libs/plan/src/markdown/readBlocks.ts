/**
 * Reads a text of any size in memory bounded by its largest block. The parser gets a window of whole lines. A block (or
 * an item of a top-level list) that another one follows is finished, whatever comes later: it is kept, and the next
 * window begins with the first unfinished one. So headings, items and paragraphs are the same as in the whole text; only
 * indented code and link definitions, which plans ignore, can be split between their lines.
 */
import { Result } from "effect"
import { type PlanProblem, planProblem } from "../plan/PlanProblem.ts"
import type { Block } from "./Block.ts"
import { byteOrderMark, type Position } from "./Position.ts"
import { readMarkdown } from "./readMarkdown.ts"
import { blockTooLarge, markersOf, maxBlockLength, maxBlockMarkers } from "./refuseText.ts"
import { maxDepth, TooDeep, toBlock } from "./toBlock.ts"

const defaultWindow = 64 * 1024
/** Of list items and quotes in the first window: the parser's time grows quadratically with how deeply one text nests. */
const firstMarkers = 256

interface Cursor {
  readonly offset: number
  readonly line: number
}

/**
 * All blocks in order, or the first problem that makes the text unreadable. `window` is the size of the parser's first
 * window. Lines longer than `maxBlockLength` must have been refused before.
 */
export const readBlocks = (
  text: string,
  window: number = defaultWindow
): Result.Result<ReadonlyArray<Block>, PlanProblem> => {
  const blocks: Array<Block> = []
  const start = text.startsWith(byteOrderMark) ? 1 : 0
  let at: Cursor = { offset: start, line: 1 }
  let size = window
  let markers = firstMarkers
  while (at.offset < text.length) {
    const end = markersEnd(text, at.offset, lineEndNear(text, at.offset, size), markers)
    const piece = parsePiece(text.slice(at.offset, end), at, at.offset === start)
    if (Result.isFailure(piece)) return Result.fail(piece.failure)
    const frontMatterGoesOn =
      at.offset === start && opensFrontMatter(text) && piece.success.blocks[0]?.kind !== "front-matter"
    const finished = end === text.length ? piece.success : frontMatterGoesOn ? undefined : finishedOf(piece.success, at)
    if (finished !== undefined) {
      for (const block of finished.blocks) blocks.push(block)
      at = finished.rest
      size = window
      markers = firstMarkers
    } else if (size < maxBlockLength || markers < maxBlockMarkers) {
      size = Math.min(size * 4, maxBlockLength)
      markers = maxBlockMarkers
    } else {
      return Result.fail(blockTooLarge({ line: at.line, column: 1 }))
    }
  }
  return Result.succeed(blocks)
}

interface Progress {
  readonly blocks: ReadonlyArray<Block>
  /** Where to read on. */
  readonly rest: Cursor
}

const parsePiece = (text: string, at: Cursor, atStart: boolean): Result.Result<Progress, PlanProblem> => {
  const markdown = readMarkdown(text, atStart)
  const blocks: Array<Block> = []
  for (const node of markdown.children) {
    const block = toBlock({ ...at, text, boxes: markdown.boxes }, node)
    if (block instanceof TooDeep) return Result.fail(tooDeep(block))
    blocks.push(block)
  }
  const rest = { offset: at.offset + text.length, line: at.line + markdown.lastLine - 1 }
  return Result.succeed({ blocks, rest })
}

/** The finished blocks; undefined when the window holds a single unfinished block or unfinished front matter. */
const finishedOf = (piece: Progress, at: Cursor): Progress | undefined => {
  const last = piece.blocks.at(-1)
  if (last === undefined) return piece
  const blocks = piece.blocks.slice(0, -1)
  const items = last.kind === "list" ? last.items : []
  const lastItem = items.findLastIndex((item) => item.depth === 0)
  const rest = lineStart(items[lastItem]?.position ?? last.position)
  if (rest.offset === at.offset) return undefined
  return last.kind === "list" && lastItem > 0
    ? { blocks: [...blocks, { ...last, items: items.slice(0, lastItem), end: rest.offset }], rest }
    : { blocks, rest }
}

const lineStart = (position: Position): Cursor => ({
  offset: position.offset - (position.column - 1),
  line: position.line
})

/** Whether the first line is a front matter fence. */
export const opensFrontMatter = (text: string): boolean => /^\uFEFF?---[ \t]*(?:\r|\n|$)/.test(text)

/** The offset after the last line end within `size` of `from`, else after the first line end beyond. */
const lineEndNear = (text: string, from: number, size: number): number => {
  if (from + size >= text.length) return text.length
  const slice = text.slice(from, from + size)
  const within = Math.max(slice.lastIndexOf("\n"), slice.lastIndexOf("\r"))
  if (within >= 0) return from + within + (slice[within] === "\r" && text[from + within + 1] === "\n" ? 2 : 1)
  const lineEnd = /\r\n|\n|\r/g
  lineEnd.lastIndex = from + size
  return lineEnd.exec(text) === null ? text.length : lineEnd.lastIndex
}

/** The offset after the line that begins the last item or quote of so many, else `end`. */
const markersEnd = (text: string, from: number, end: number, markers: number): number => {
  let left = markers
  let start = from
  const lineEnd = /\r\n|\n|\r/g
  lineEnd.lastIndex = from
  for (let found = lineEnd.exec(text); found !== null && lineEnd.lastIndex < end; found = lineEnd.exec(text)) {
    left -= markersOf(text.slice(start, found.index))
    start = lineEnd.lastIndex
    if (left <= 0) return start
  }
  return end
}

const tooDeep = ({ position }: TooDeep): PlanProblem =>
  planProblem("too-deep", position, `lists or quotes are nested more than ${maxDepth} deep; flatten them.`)
