import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { readBlocks } from "../src/markdown/readBlocks.ts"
import { maxBlockLength } from "../src/markdown/refuseText.ts"
import { lines, MarkdownLines, parsed } from "./plans.ts"

const whole = (text: string) => parsed(readBlocks(text, maxBlockLength))

/** The blocks that matter in a plan. A list split between items has the same items; code can be split between lines. */
const content = (text: string, window: number) =>
  parsed(readBlocks(text, window)).flatMap(
    (block): ReadonlyArray<unknown> => (block.kind === "list" ? block.items : block.kind === "other" ? [] : [block])
  )

describe("reading a plan in windows", () => {
  it.prop(
    "gives the same blocks as reading the whole text",
    [
      MarkdownLines,
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 200 })),
      Schema.Literals(["\n", "\r\n", "\r"])
    ],
    ([all, window, end]) => {
      const text = all.filter((line) => !/^(?:\[|")/.test(line)).join(end)
      assert.deepStrictEqual(content(text, window), content(text, maxBlockLength))
    },
    { arbitrary: { runs: 1000, size: 60 } }
  )

  it("finds front matter that is longer than a window", () => {
    const text = lines("---", ...Array.from({ length: 50 }, (_, index) => `key${index}: value`), "---", "# T")
    assert.deepStrictEqual(parsed(readBlocks(text, 40)), whole(text))
    assert.deepStrictEqual(
      whole(text).map(({ kind }) => kind),
      ["front-matter", "heading"]
    )
  })

  it("gives lines, columns and offsets in the whole text", () => {
    const text = `\uFEFF${"prose\r\n\r\n".repeat(100)}  - [ ] task\r\n`
    const last = parsed(readBlocks(text, 64)).at(-1)
    assert.deepStrictEqual(last?.position, { line: 201, column: 3, offset: text.indexOf("- [") })
  })
})
