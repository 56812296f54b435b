import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { fromMarkdown } from "mdast-util-from-markdown"
import { longParagraph, paragraphsOf } from "../src/markdown/longParagraph.ts"

interface Node {
  readonly type: string
  readonly position?: { readonly start: { readonly line: number }; readonly end: { readonly line: number } } | undefined
  readonly children?: ReadonlyArray<Node>
}

/** The first and the last line of each paragraph, as the markdown parser sees them. */
const real = (node: Node): ReadonlyArray<readonly [number, number]> =>
  node.type === "paragraph" && node.position !== undefined
    ? [[node.position.start.line, node.position.end.line]]
    : (node.children ?? []).flatMap(real)

/** Lines that begin or end something, or look so. */
const pieces = [
  ["", " ", "   ", "    ", "     ", "\t", "> ", ">", ">    ", "- ", "  > "],
  [
    "",
    "a",
    "# a",
    "#a",
    "- a",
    "-",
    "- - a",
    "* a",
    "1. a",
    "2. a",
    "1) a",
    "2.",
    "| a",
    "===",
    "---",
    "```",
    "``` a`b"
  ],
  ["", "~~~", "<div>", "</div>", "<!--", "-->", "<a>", "[a]: b", "- ```", "2. ```", "10. a", ">a", "> 2. a"]
] as const

const Line = Schema.Struct({
  before: Schema.Literals(pieces[0]),
  begin: Schema.Literals(pieces[1]),
  end: Schema.Literals(pieces[2])
})

describe("looking for long paragraphs", () => {
  it.prop(
    "divides no paragraph of the markdown parser",
    [Schema.Array(Line)],
    ([written]) => {
      const text = written.map(({ before, begin, end }) => `${before}${begin === "" ? end : begin}`).join("\n")
      const parts = [...paragraphsOf(text)]
      for (const [first, last] of real(fromMarkdown(text))) {
        const around = parts.find(({ line, lines }) => line <= first && last < line + lines)
        assert.isDefined(around, `lines ${first} to ${last} of ${JSON.stringify(text)} in ${JSON.stringify(parts)}`)
      }
    },
    { arbitrary: { runs: 5000, size: 40 } }
  )

  it.each([
    ["an indented fence", "x\n    ```\n", "a\n"],
    ["a fence with a backtick in its info string", "x\n``` a`b\n", "a\n"],
    ["a fence that another character closes", "```\na\n~~~\n```\nx\n~~~\n", "a\n"],
    ["a fence in HTML", "<div>\n```\n</div>\n\nx\n", "a\n"],
    ["an item whose fence ends with it", "- ```\n  a\nx\n", "a\n"],
    ["rows of a table", "x\n", "| a\n"],
    ["indented headings", "x\n", "    # a\n"],
    ["indented items", "x\n", "    - a\n"],
    ["numbers that begin no list", "x\n", "2. a\n"],
    ["items without a text", "x\n", "*\n"],
    ["quotes", "", "> a\n"],
    ["indented quotes without a text", "x\n", "    >\n"],
    ["images", "x\n", "![a](\n"]
  ])("finds one after or of %s", (_, before, line) => {
    assert.isDefined(longParagraph(before + line.repeat(17_000 / line.length)))
    assert.isDefined(longParagraph(before + line.repeat(1001)))
  })

  it.each([
    ["items", "- a\n"],
    ["nested items", "- a\n  - b\n    - c\n"],
    ["numbered items", "1. a\n2. b\n10. c\n"],
    ["tasks", "- [ ] P1.1 Write it\n"],
    ["headings", "## a\n"],
    ["paragraphs", "a\n\n"],
    ["quotes", "> a\n>\n"]
  ])("finds none in many %s", (_, some) => {
    assert.isUndefined(longParagraph(some.repeat(5000)))
  })
})
