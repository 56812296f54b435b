import { assert, describe, it } from "@effect/vitest"
import { visible } from "../src/terminal/Printer.ts"

describe("text from agents", () => {
  it.each([
    ["a colour", "\u001b[31mred\u001b[0m", "\\x1b[31mred\\x1b[0m"],
    ["a link", "\u001b]8;;http://x\u0007here", "\\x1b]8;;http://x\\x07here"],
    ["a carriage return that would hide a line", "safe\rrm -rf", "safe\\x0drm -rf"],
    ["a backspace", "ab\bc", "ab\\x08c"],
    ["an eight-bit control character", "\u009b2J", "\\x9b2J"],
    ["a null and a delete", "\u0000\u007f", "\\x00\\x7f"]
  ])("shows %s instead of executing it", (_what, text, shown) => {
    assert.strictEqual(visible(text), shown)
  })

  it("keeps lines, tabs and letters of any script", () => {
    assert.strictEqual(visible("a\tb\nžluťoučký 漢字 🙂"), "a\tb\nžluťoučký 漢字 🙂")
  })

  it("normalises Windows line ends", () => {
    assert.strictEqual(visible("a\r\nb"), "a\nb")
  })
})
