import { assert, describe, it } from "@effect/vitest"
import { markedInListing } from "../src/Mark.ts"

describe("markedInListing", () => {
  it.each(["\r", "\u2028"])("finds a process whose environment holds a character that ends no line: %j", (end) =>
    assert.deepStrictEqual(markedInListing("MARK=/a", `  11 sleep 9 A=x${end}y MARK=/a\n`), [11])
  )

  it("finds a mark at the end, in the middle and with blanks, and nothing that only begins like it", () => {
    const listing = [
      "  11 /bin/opencode serve PATH=/bin MARK=/a b/state",
      "  12 bash -c x MARK=/a b/state HOME=/root",
      "  13 bash MARK=/a b/state2 HOME=/root",
      "  14 bash OTHERMARK=/a b/state",
      "",
      "not a line"
    ].join("\n")
    assert.deepStrictEqual(markedInListing("MARK=/a b/state", listing), [11, 12])
  })
})
