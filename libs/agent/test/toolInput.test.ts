import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Conversation } from "../src/Message.ts"
import { toolInput } from "../src/toolInput.ts"

const nested = (levels: number): unknown => {
  let value: unknown = "deep"
  for (let n = 0; n < levels; n++) value = n % 2 === 0 ? { a: value } : [value]
  return { path: "a", value }
}

describe("what a model gave a tool", () => {
  it("is kept as it is", () => {
    const input = { path: "a", lines: [1, 2.5, null, true], options: { deep: { er: "x" } }, none: {} }
    assert.deepStrictEqual(toolInput(input), input)
    assert.deepStrictEqual(toolInput(nested(40)), nested(40))
  })

  it.each([undefined, null, "text", 3, [1]])("is nothing where it is no table: %j", (value) => {
    assert.deepStrictEqual(toolInput(value), {})
  })

  it("can be saved however deeply it is nested, with a word where something is left out", () => {
    const messages = [
      {
        id: "m",
        role: "assistant" as const,
        content: [{ type: "tool_use" as const, tool_use: { id: "t", name: "bash", input: toolInput(nested(100_000)) } }]
      }
    ]
    const text = Schema.encodeSync(Schema.fromJsonString(Conversation))({ messages, savedAt: "2026-01-01T00:00:00Z" })
    assert.include(text, "[Reprise left out what is nested deeper than 50 levels]")
    assert.isBelow(text.length, 1_000)
  })
})
