import { assert, describe, it } from "@effect/vitest"
import { markdownText } from "../src/views/markdownText.ts"

const tones = { bold: (text: string) => `<${text}>`, cyan: (text: string) => `{${text}}` }

describe("markdown at a terminal", () => {
  it.each([
    ["# Summary: A greeter", "<Summary: A greeter>"],
    ["### Task 1: Write `greet.mjs`", "<Task 1: Write {greet.mjs}>"],
    ["- **Commit**: `0123`", "- <Commit>: {0123}"],
    ["- [x] 1-T1 Write", "- [x] 1-T1 Write"],
    ["2 * 3 ** 4 ` 5", "2 * 3 ** 4 ` 5"],
    ["one\n\n## two", "one\n\n<two>"]
  ])("shows %j as %j", (markdown, shown) => {
    assert.strictEqual(markdownText(markdown, tones), shown)
  })
})
