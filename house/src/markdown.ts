/** Headings, links and inline code of a Markdown page, with their lines. */
import type { Nodes } from "mdast"
import { fromMarkdown } from "mdast-util-from-markdown"
import { toString as textOf } from "mdast-util-to-string"

export interface Passage {
  readonly text: string
  readonly line: number
}

export interface Page {
  /** The anchors that GitHub gives to the headings. */
  readonly slugs: ReadonlySet<string>
  readonly links: ReadonlyArray<Passage>
  readonly codes: ReadonlyArray<Passage>
}

/** The anchor that GitHub makes of a heading: lower case, no punctuation, a hyphen for each space. */
export const slugOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "")
    .replaceAll(" ", "-")

/** Equal headings get `-1`, `-2` … from the second on. */
const slugsOf = (headings: ReadonlyArray<string>): ReadonlySet<string> => {
  const slugs = new Set<string>()
  for (const heading of headings) {
    const slug = slugOf(heading)
    let free = slug
    for (let count = 1; slugs.has(free); count += 1) free = `${slug}-${count}`
    slugs.add(free)
  }
  return slugs
}

const descendants = (node: Nodes): ReadonlyArray<Nodes> => [
  node,
  ...("children" in node ? node.children.flatMap(descendants) : [])
]

export const readPage = (markdown: string): Page => {
  const nodes = descendants(fromMarkdown(markdown))
  const at = (node: Nodes) => node.position?.start.line ?? 1
  return {
    slugs: slugsOf(nodes.flatMap((node) => (node.type === "heading" ? [textOf(node)] : []))),
    links: nodes.flatMap((node) =>
      node.type === "link" || node.type === "definition" || node.type === "image"
        ? [{ text: node.url, line: at(node) }]
        : []
    ),
    codes: nodes.flatMap((node) => (node.type === "inlineCode" ? [{ text: node.value, line: at(node) }] : []))
  }
}
