import { assert, describe, it } from "@effect/vitest"
import { firstShown } from "../src/data/conversation.ts"

const said = (...lengths: ReadonlyArray<number>) =>
  lengths.map((length, n) => ({
    id: `m${n}`,
    role: "assistant" as const,
    content: [{ type: "text" as const, text: "x".repeat(length) }]
  }))

describe("the messages of a conversation that are there at first", () => {
  it.each([
    ["all of a short one", said(1, 2, 3), 0],
    ["none of an empty one", [], 0],
    ["the newest forty of thousands", said(...Array.from({ length: 5_000 }, () => 10)), 4_960],
    ["as many long ones as can be read as markdown", said(90_000, 90_000, 5_000), 1],
    ["the newest one, however long", said(1, 1_000_000), 1]
  ])("are %s", (_, messages, first) => assert.strictEqual(firstShown(messages), first))
})
