import type { ToolCallUpdate } from "@agentclientprotocol/sdk"
import { assert, describe, it } from "@effect/vitest"
import { Conversation } from "../src/acp/conversation/Conversation.ts"
import { inFull, loadableFromMs } from "../src/acp/process/deviations.ts"

const gemini = { agentInfo: { name: "gemini-cli", version: "0.61.0" } }
const other = { agentInfo: { name: "other", version: "1.0.0" } }

describe("when an agent can load a session", () => {
  it.each([
    ["Gemini's, from the next minute by the clock on", gemini, 119_999, 120_000],
    ["Gemini's, made as a minute begins", gemini, 120_000, 180_000],
    ["Gemini's, of an earlier release, at once", gemini, undefined, undefined],
    ["another's, at once", other, 119_999, undefined],
    ["that of an agent without a name, at once", {}, 119_999, undefined]
  ] as const)("%s", (_, initialized, createdAtMs, expected) => {
    assert.strictEqual(loadableFromMs(initialized, createdAtMs), expected)
  })
})

describe("the command that Gemini asks about", () => {
  const call: ToolCallUpdate = { toolCallId: "t", kind: "execute", title: "touch a && rm b" }

  it.each([
    ["is its title", gemini, call, { command: "touch a && rm b" }],
    ["is not the title of another tool", gemini, { ...call, kind: "edit" }, undefined],
    ["is what it names, if it does", gemini, { ...call, rawInput: { command: "ls" } }, { command: "ls" }],
    ["is not assumed of another agent that names none", other, call, undefined]
  ] as const)("%s", (_, initialized, requested, rawInput) => {
    assert.deepStrictEqual(inFull(initialized, requested).rawInput, rawInput)
  })
})

describe("a conversation that Gemini tells", () => {
  it("leaves out what it told its model of the folder", () => {
    const conversation = new Conversation()
    for (const text of ["<session_context>\nToday is a day.\n</session_context>", "say hello"]) {
      conversation.apply({ sessionUpdate: "user_message_chunk", content: { type: "text", text } })
    }
    assert.deepStrictEqual(conversation.entries, [{ kind: "user", id: undefined, text: "say hello" }])
  })
})
