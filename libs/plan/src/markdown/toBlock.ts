/** Turns the parser's nodes into blocks, with positions in the whole text instead of the parsed window. */
import type { BlockContent, Code, DefinitionContent, List, ListItem, Node, RootContent } from "mdast"
import type { Block, ListedItem } from "./Block.ts"
import type { Position } from "./Position.ts"
import type { Box } from "./readMarkdown.ts"

/** A parsed part of the text, and where it begins. */
export interface ParsedWindow {
  readonly text: string
  readonly boxes: ReadonlyMap<ListItem, Box>
  readonly offset: number
  readonly line: number
}

/** Deeper nesting is refused: the parser's time grows with the depth of each line. */
export const maxDepth = 32

export class TooDeep {
  readonly position: Position
  constructor(position: Position) {
    this.position = position
  }
}

export const toBlock = (window: ParsedWindow, node: RootContent): Block | TooDeep => {
  const at = { position: startOf(window, node), end: window.offset + offsetsOf(node).end }
  switch (node.type) {
    case "heading":
      return { ...at, kind: "heading", depth: node.depth, text: textWithin(window, node.children) }
    case "list": {
      const items: Array<ListedItem> = []
      const tooDeep = collectItems(window, node, 0, items)
      return tooDeep ?? { ...at, kind: "list", items }
    }
    case "paragraph":
      return { ...at, kind: "paragraph", text: sourceOf(window, node) }
    case "yaml":
      return { ...at, kind: "front-matter", yaml: node.value }
    case "code":
      return isOpenFence(sourceOf(window, node), node)
        ? { ...at, kind: "unclosed", closing: fenceOf(sourceOf(window, node)) }
        : { ...at, kind: "other" }
    case "html":
      return htmlBlock(at, node.value)
    case "thematicBreak":
    case "definition":
      return { ...at, kind: "nothing" }
    case "blockquote":
      return quoteDepth(node.children, 1) > maxDepth ? new TooDeep(at.position) : { ...at, kind: "other" }
    default:
      return { ...at, kind: "other" }
  }
}

const collectItems = (
  window: ParsedWindow,
  list: List,
  depth: number,
  items: Array<ListedItem>
): TooDeep | undefined => {
  for (const item of list.children) {
    const position = startOf(window, item)
    if (depth >= maxDepth) return new TooDeep(position)
    items.push({ position, depth, ...itemText(window, item) })
    for (const child of item.children) {
      const tooDeep =
        child.type === "list"
          ? collectItems(window, child, depth + 1, items)
          : child.type === "blockquote" && quoteDepth(child.children, depth + 1) > maxDepth
            ? new TooDeep(position)
            : undefined
      if (tooDeep !== undefined) return tooDeep
    }
  }
  return undefined
}

/** How deep quotes and the lists in them are nested; stops counting beyond the limit. */
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

const itemText = (window: ParsedWindow, item: ListItem): Pick<ListedItem, "text" | "mark"> => {
  const first = item.children[0]
  if (first?.type !== "paragraph") return { text: "" }
  const box = window.boxes.get(item)
  if (box === undefined) return { text: sourceOf(window, first) }
  return {
    text: window.text.slice(box.end + 1, offsetsOf(first).end),
    mark: window.text.slice(box.start, box.end)
  }
}

const offsetsOf = (node: Node) => ({
  start: node.position?.start.offset ?? 0,
  end: node.position?.end.offset ?? 0
})

const startOf = (window: ParsedWindow, node: Node): Position => ({
  line: window.line + (node.position?.start.line ?? 1) - 1,
  column: node.position?.start.column ?? 1,
  offset: window.offset + offsetsOf(node).start
})

const sourceOf = (window: ParsedWindow, node: Node) => {
  const { start, end } = offsetsOf(node)
  return window.text.slice(start, end)
}

const textWithin = (window: ParsedWindow, children: ReadonlyArray<Node>) => {
  const first = children[0]
  const last = children.at(-1)
  return first === undefined || last === undefined ? "" : window.text.slice(offsetsOf(first).start, offsetsOf(last).end)
}

const fenceOf = (source: string) => /^(`{3,}|~{3,})/.exec(source)?.[1] ?? ""

/** A closed fence ends with a line that is a fence of at least its length; the parser ends an open one with the text. */
const isOpenFence = (source: string, node: Code): boolean => {
  const fence = fenceOf(source)
  if (fence === "") return false
  const lines = (node.position?.end.line ?? 1) - (node.position?.start.line ?? 1)
  const lastLine = source.slice(Math.max(source.lastIndexOf("\n"), source.lastIndexOf("\r")) + 1).trim()
  return lines === 0 || lastLine.length < fence.length || lastLine !== (fence[0] ?? "").repeat(lastLine.length)
}

/** HTML blocks that end with a given text instead of a blank line (CommonMark 4.6, kinds 1 to 5). */
const htmlEnds: ReadonlyArray<readonly [RegExp, RegExp, string]> = [
  [/^\s*<!--/, /-->/, "-->"],
  [/^\s*<(?:script|pre|style|textarea)(?:\s|>|$)/i, /<\/(?:script|pre|style|textarea)>/i, "a closing tag"],
  [/^\s*<\?/, /\?>/, "?>"],
  [/^\s*<!\[CDATA\[/, /\]\]>/, "]]>"],
  [/^\s*<![a-z]/i, />/, ">"]
]

const htmlBlock = (at: Pick<Block, "position" | "end">, html: string): Block => {
  const ends = htmlEnds.find(([start]) => start.test(html))
  if (ends !== undefined && !ends[1].test(html)) return { ...at, kind: "unclosed", closing: ends[2] }
  return { ...at, kind: /^\s*<!--[\s\S]*-->\s*$/.test(html) ? "nothing" : "other" }
}
