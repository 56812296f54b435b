import { assert, describe, it } from "@effect/vitest"
import { boundedMessages, boundedText, longestBlock } from "../src/boundedMessages.ts"

describe("a long text", () => {
  const some = "-".repeat(100)

  it.each([
    [some, some],
    [`abcde${some}fghij`, "abc\n[Reprise left out 104 characters here]\nhij"],
    [`ab😀${some}😀ef`, "ab\n[Reprise left out 104 characters here]\nef"],
    ["", ""]
  ])("of %j is kept with its beginning and its end, and no character is divided", (text, expected) => {
    assert.strictEqual(boundedText(text, text === some ? 100 : 70), expected)
  })

  it("is not cut a second time", () => {
    const once = boundedText("x".repeat(50_000_000))
    assert.isAtMost(once.length, longestBlock)
    assert.isTrue(boundedText(once) === once)
  })
})

describe("a conversation", () => {
  const long = "x".repeat(50_000_000)
  const cut = boundedText(long)

  it("is bounded in texts, results, and every argument of a call, but not in what a user wrote", () => {
    const user = { id: "u", role: "user" as const, content: [{ type: "text" as const, text: long }] }
    const [own, answer] = boundedMessages([
      user,
      {
        id: "a",
        role: "assistant",
        content: [
          { type: "text", text: long },
          {
            type: "tool_use",
            tool_use: { id: "t", name: "write", input: { path: "f", n: 1, parts: [{ text: long }] } }
          },
          { type: "tool_result", tool_result: { toolUseId: "t", output: long, isError: false } }
        ]
      }
    ])
    assert.strictEqual(own, user)
    assert.deepStrictEqual(answer?.content, [
      { type: "text", text: cut },
      { type: "tool_use", tool_use: { id: "t", name: "write", input: { path: "f", n: 1, parts: [{ text: cut }] } } },
      { type: "tool_result", tool_result: { toolUseId: "t", output: cut, isError: false } }
    ])
    assert.isAtMost(JSON.stringify(answer).length, 3 * longestBlock + 1_000)
  })
})
