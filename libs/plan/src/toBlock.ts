/** From the parser's tree to blocks: positions are moved to where the parsed piece lies in the whole text. */
import type { BlockContent, Code, DefinitionContent, List, ListItem, Node, RootContent } from "mdast"
import type { Block, ListedItem } from "./Block.ts"
import type { Position } from "./Position.ts"
import type { Box } from "./readMarkdown.ts"

/** A parsed piece of the text, and where it begins. */
export interface Piece {
  readonly text: string
  readonly boxes: ReadonlyMap<ListItem, Box>
  readonly offset: number
  readonly line: number
}

/** Deeper lists are refused: the parser's time grows with the depth of each line. */
export const maxDepth = 32

export class TooDeep {
  readonly position: Position
  constructor(position: Position) {
    this.position = position
  }
}

export const toBlock = (piece: Piece, node: RootContent): Block | TooDeep => {
  const place = { position: startOf(piece, node), end: piece.offset + offsetsOf(node).end }
  switch (node.type) {
    case "heading":
      return { ...place, kind: "heading", depth: node.depth, text: textWithin(piece, node.children) }
    case "list": {
      const items: Array<ListedItem> = []
      const tooDeep = collectItems(piece, node, 0, items)
      return tooDeep ?? { ...place, kind: "list", items }
    }
    case "paragraph":
      return { ...place, kind: "paragraph", text: sourceOf(piece, node) }
    case "yaml":
      return { ...place, kind: "front-matter", yaml: node.value }
    case "code":
      return isOpenFence(sourceOf(piece, node), node)
        ? { ...place, kind: "unclosed", closing: fenceOf(sourceOf(piece, node)) }
        : { ...place, kind: "other" }
    case "html":
      return htmlBlock(place, node.value)
    case "thematicBreak":
    case "definition":
      return { ...place, kind: "nothing" }
    case "blockquote":
      return quoteDepth(node.children, 1) > maxDepth ? new TooDeep(place.position) : { ...place, kind: "other" }
    default:
      return { ...place, kind: "other" }
  }
}

const collectItems = (piece: Piece, list: List, depth: number, items: Array<ListedItem>): TooDeep | undefined => {
  for (const item of list.children) {
    const position = startOf(piece, item)
    if (depth >= maxDepth) return new TooDeep(position)
    items.push({ position, depth, ...itemText(piece, item) })
    for (const child of item.children) {
      const tooDeep =
        child.type === "list"
          ? collectItems(piece, child, depth + 1, items)
          : child.type === "blockquote" && quoteDepth(child.children, depth + 1) > maxDepth
            ? new TooDeep(position)
            : undefined
      if (tooDeep !== undefined) return tooDeep
    }
  }
  return undefined
}

/** How deep quotes and the lists in them are nested; stops looking where it is too deep. */
const quoteDepth = (children: ReadonlyArray<BlockContent | DefinitionContent>, depth: number): number => {
  if (depth > maxDepth) return depth
  let deepest = depth
  for (const child of children) {
    if (child.type === "blockquote") deepest = Math.max(deepest, quoteDepth(child.children, depth + 1))
    if (child.type === "list") {
      for (const item of child.children) deepest = Math.max(deepest, quoteDepth(item.children, depth + 1))
    }
  }
  return deepest
}

const itemText = (piece: Piece, item: ListItem): Pick<ListedItem, "text" | "box"> => {
  const first = item.children[0]
  if (first?.type !== "paragraph") return { text: "" }
  const box = piece.boxes.get(item)
  if (box === undefined) return { text: sourceOf(piece, first) }
  return {
    text: piece.text.slice(box.end + 1, offsetsOf(first).end),
    box: { offset: piece.offset + box.start, mark: piece.text.slice(box.start, box.end) }
  }
}

const offsetsOf = (node: Node) => ({
  start: node.position?.start.offset ?? 0,
  end: node.position?.end.offset ?? 0
})

const startOf = (piece: Piece, node: Node): Position => ({
  line: piece.line + (node.position?.start.line ?? 1) - 1,
  column: node.position?.start.column ?? 1,
  offset: piece.offset + offsetsOf(node).start
})

const sourceOf = (piece: Piece, node: Node) => {
  const { start, end } = offsetsOf(node)
  return piece.text.slice(start, end)
}

const textWithin = (piece: Piece, children: ReadonlyArray<Node>) => {
  const first = children[0]
  const last = children.at(-1)
  return first === undefined || last === undefined ? "" : piece.text.slice(offsetsOf(first).start, offsetsOf(last).end)
}

const fenceOf = (source: string) => /^(`{3,}|~{3,})/.exec(source)?.[1] ?? ""

/** A fenced block ends in a line that is a fence at least as long; the parser ends an open one at the end of the text. */
const isOpenFence = (source: string, node: Code): boolean => {
  const fence = fenceOf(source)
  if (fence === "") return false
  const lines = (node.position?.end.line ?? 1) - (node.position?.start.line ?? 1)
  const lastLine = source.slice(Math.max(source.lastIndexOf("\n"), source.lastIndexOf("\r")) + 1).trim()
  return lines === 0 || lastLine.length < fence.length || lastLine !== (fence[0] ?? "").repeat(lastLine.length)
}

/** HTML blocks that end at a word, not at a blank line (CommonMark 4.6, kinds 1 to 5). */
const htmlEnds: ReadonlyArray<readonly [RegExp, RegExp, string]> = [
  [/^\s*<!--/, /-->/, "-->"],
  [/^\s*<(?:script|pre|style|textarea)(?:\s|>|$)/i, /<\/(?:script|pre|style|textarea)>/i, "a closing tag"],
  [/^\s*<\?/, /\?>/, "?>"],
  [/^\s*<!\[CDATA\[/, /\]\]>/, "]]>"],
  [/^\s*<![a-z]/i, />/, ">"]
]

const htmlBlock = (place: Pick<Block, "position" | "end">, html: string): Block => {
  const ends = htmlEnds.find(([start]) => start.test(html))
  if (ends !== undefined && !ends[1].test(html)) return { ...place, kind: "unclosed", closing: ends[2] }
  return { ...place, kind: /^\s*<!--[\s\S]*-->\s*$/.test(html) ? "nothing" : "other" }
}
