import { assert, describe, it } from "@effect/vitest"
import { TextThrottle } from "../src/TextThrottle.ts"
import { toolArgument } from "../src/toolArgument.ts"

describe("the words of an agent", () => {
  it("are told a few times a second, however many pieces they come in, and none of them is lost", () => {
    const buffer = new TextThrottle()
    const pieces = Array.from({ length: 2_000 }, (_, n) => `${n} `)
    const told = [...pieces.flatMap((piece, n) => buffer.add("p", "text", piece, n)), ...buffer.flush()]
    assert.isAtMost(told.length, 15)
    assert.strictEqual(told.map(({ text }) => text).join(""), pieces.join(""))
    assert.deepStrictEqual([...new Set(told.map(({ omitted }) => omitted))], [0])
  })

  it("are told part by part", () => {
    const buffer = new TextThrottle()
    buffer.add("a", "reasoning", "Hm", 0)
    buffer.add("a", "reasoning", "m", 1)
    assert.deepStrictEqual(buffer.add("b", "text", "So", 2), [{ part: "a", kind: "reasoning", text: "m", omitted: 0 }])
    assert.deepStrictEqual(buffer.flush(), [{ part: "b", kind: "text", text: "So", omitted: 0 }])
    assert.deepStrictEqual(buffer.flush(), [])
  })

  it("are told from their end when a megabyte comes in a second, with how much was left out, and no half characters", () => {
    const buffer = new TextThrottle()
    const piece = "🚀".repeat(500)
    const told = [
      ...Array.from({ length: 1_000 }, (_, n) => buffer.add("p", "text", piece, n)).flat(),
      ...buffer.flush()
    ]
    const shown = told.reduce((sum, { text }) => sum + text.length, 0)
    const omitted = told.reduce((sum, one) => sum + one.omitted, 0)
    assert.strictEqual(shown + omitted, 1_000 * piece.length)
    assert.isBelow(shown, 100_000)
    for (const { text } of told) assert.isTrue(text.isWellFormed())
  })
})

describe("what a tool works on", () => {
  it.each([
    [{ command: "npm test", description: "Runs the tests" }, "npm test"],
    [{ filePath: "/w/src/a.ts", oldString: "a", newString: "b" }, "/w/src/a.ts"],
    [{ file_path: "/w/src/a.ts", content: "…" }, "/w/src/a.ts"],
    [{ pattern: "TODO", path: "/w" }, "TODO"],
    [{ command: "cat <<EOF\n  one\nEOF" }, "cat <<EOF one EOF"],
    [{ command: "x".repeat(500) }, `${"x".repeat(199)}…`],
    [{ todos: [] }, undefined],
    [{ command: " " }, undefined],
    [undefined, undefined],
    ["text", undefined]
  ])("is read from %j", (input, argument) => {
    assert.strictEqual(toolArgument(input), argument)
  })
})
