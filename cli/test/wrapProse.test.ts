import { assert, describe, it } from "@effect/vitest"
import { wrapProse } from "../src/terminal/wrapProse.ts"

describe("a line for people", () => {
  it.each([
    ["fits", "a b c", 5, "a b c"],
    ["is broken between words", "In your own repository", 12, "In your own\nrepository"],
    ["keeps a word that is longer than the terminal", "see /a/very/long/path here", 8, "see\n/a/very/long/path\nhere"],
    ["keeps its indent", "  two words and more", 13, "  two words\n  and more"],
    ["keeps the mark of words that are not ours", "  | two words here", 14, "  | two words\n  | here"],
    ["has no mark where there is no room for it", "    | two words", 12, "    | two\nwords"],
    ["is left alone where nobody knows how wide it may be", "a b c d", Number.POSITIVE_INFINITY, "a b c d"],
    ["counts two columns for a wide letter", "漢字 漢字", 7, "漢字\n漢字"]
  ])("%s", (_title, text, columns, shown) => {
    assert.strictEqual(wrapProse(text, columns), shown)
  })
})
