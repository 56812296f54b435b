/**
 * The markdown parser, set up for plans: CommonMark blocks, front matter, task lists. Inline markup is not parsed, because
 * titles and tasks are kept as they are written; that is faster and avoids the parser's slow inline cases.
 */
import type { ListItem, RootContent } from "mdast"
import { type CompileContext, type Extension, fromMarkdown, type Token } from "mdast-util-from-markdown"
import { frontmatterFromMarkdown } from "mdast-util-frontmatter"
import { frontmatter } from "micromark-extension-frontmatter"
import { gfmTaskListItem } from "micromark-extension-gfm-task-list-item"

/** The offsets of a list item's mark between the brackets, and of the closing bracket. */
export interface Box {
  readonly start: number
  readonly end: number
}

export interface Markdown {
  readonly children: ReadonlyArray<RootContent>
  readonly boxes: ReadonlyMap<ListItem, Box>
  /** The line number at the end of the text. */
  readonly lastLine: number
}

const inlineConstructs = [
  "attention",
  "autolink",
  "characterEscape",
  "characterReference",
  "codeText",
  "hardBreakEscape",
  "htmlText",
  "labelEnd",
  "labelStartImage",
  "labelStartLink"
]

const blocks = [gfmTaskListItem(), { disable: { null: inlineConstructs } }]
const blocksAfterFrontMatter = [frontmatter(["yaml"]), ...blocks]

/** Offsets and lines count within `text`. `atStart`: the text is the beginning of a plan, so it can have front matter. */
export const readMarkdown = (text: string, atStart: boolean): Markdown => {
  const boxes = new Map<ListItem, Box>()
  const root = fromMarkdown(text, {
    extensions: atStart ? blocksAfterFrontMatter : blocks,
    mdastExtensions: [frontmatterFromMarkdown(["yaml"]), rememberBoxes(boxes)]
  })
  return { children: root.children, boxes, lastLine: root.position?.end.line ?? 1 }
}

const rememberBoxes = (boxes: Map<ListItem, Box>): Extension => {
  function remember(this: CompileContext, token: Token): undefined {
    // A box is always in a list item's first paragraph, so the stack ends with item, paragraph.
    const item = this.stack.at(-2)
    if (item?.type === "listItem") boxes.set(item, { start: token.start.offset, end: token.end.offset })
  }
  return { exit: { taskListCheckValueChecked: remember, taskListCheckValueUnchecked: remember } }
}
