import { assert, describe, it } from "@effect/vitest"
import { rowsOf } from "../src/data/rows.ts"

describe("the rows of a long text", () => {
  it("are its lines", () => assert.deepStrictEqual(rowsOf("a\n\nb", false), ["a", "", "b"]))

  it.each([
    ["output", false, 5_000],
    ["words", true, 1_000]
  ])("lose nothing of a line of a megabyte of %s, of which none is longer than is drawn at once", (_, wraps, most) => {
    for (const line of ["x".repeat(1_000_000), "lorem ipsum ".repeat(80_000)]) {
      const rows = rowsOf(line, wraps)
      assert.strictEqual(rows.join(""), line)
      assert.isAtMost(Math.max(...rows.map(({ length }) => length)), most)
    }
  })

  it("end between words where they wrap", () => {
    const rows = rowsOf("lorem ipsum ".repeat(1_000), true)
    for (const row of rows) assert.match(row, /^lorem .* $|^ipsum .* $/)
  })
})
