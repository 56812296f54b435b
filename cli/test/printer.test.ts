import { assert, describe, it } from "@effect/vitest"
import { visible, visibleJson, visibleLine } from "../src/terminal/visible.ts"

describe("text from agents", () => {
  it.each([
    ["a colour", "\u001b[31mred\u001b[0m", "\\x1b[31mred\\x1b[0m"],
    ["a link", "\u001b]8;;http://x\u0007here", "\\x1b]8;;http://x\\x07here"],
    ["a carriage return that would hide a line", "safe\rrm -rf", "safe\\x0drm -rf"],
    ["a backspace", "ab\bc", "ab\\x08c"],
    ["an eight-bit control character", "\u009b2J", "\\x9b2J"],
    ["a null and a delete", "\u0000\u007f", "\\x00\\x7f"],
    ["a mark that reverses the letters after it", "a\u202eb\u202c", "a\\u{202e}b\\u{202c}"],
    ["an isolate", "\u2066a\u2069", "\\u{2066}a\\u{2069}"],
    ["a character without a width", "rm\u200b\ufeff", "rm\\u{200b}\\u{feff}"],
    ["a line separator", "a\u2028b", "a\\u{2028}b"],
    ["a letter that is not drawn", "a\u3164\u{e0041}", "a\\u{3164}\\u{e0041}"]
  ])("shows %s instead of executing it", (_what, text, shown) => {
    assert.strictEqual(visible(text), shown)
  })

  it("keeps lines, tabs and letters of any script", () => {
    assert.strictEqual(visible("a\tb\nžluťoučký 漢字 🙂"), "a\tb\nžluťoučký 漢字 🙂")
  })

  it("is the same JSON, with nothing in it that a terminal obeys", () => {
    const value = { "k\u009b": "\u009b2J \u202e\u2066 \u{e0041} \u007f\u2028 \u001b[31m ž 漢字 👩‍💻" }
    const shown = visibleJson(JSON.stringify(value))
    assert.deepStrictEqual(JSON.parse(shown), value)
    assert.strictEqual(visible(shown), shown)
  })

  it("keeps emoji that are joined of several", () => {
    assert.strictEqual(visible("👩‍💻 ❤️"), "👩‍💻 ❤️")
  })

  it("shows the line breaks of what belongs on one line", () => {
    assert.strictEqual(visibleLine("a\nanswer> \tc\r\nd"), "a\\nanswer> \\tc\\nd")
  })

  it("normalises Windows line ends", () => {
    assert.strictEqual(visible("a\r\nb"), "a\nb")
  })
})
