import type { SessionUpdate } from "@agentclientprotocol/sdk"
import { assert, describe, it } from "@effect/vitest"
import { toolWords } from "../src/acp/turn/toolWords.ts"

const words = "touch: cannot touch '/data/x': Read-only file system"
const said = (text: string) => [{ type: "content" as const, content: { type: "text" as const, text } }]
const ended = (more: Partial<Extract<SessionUpdate, { sessionUpdate: "tool_call_update" }>>): SessionUpdate => ({
  sessionUpdate: "tool_call_update",
  toolCallId: "t",
  ...more
})

describe("what a tool says of files that it may not write", () => {
  const cases: ReadonlyArray<readonly [string, SessionUpdate, ReturnType<typeof toolWords>]> = [
    ["of a tool that failed", ended({ status: "failed", content: said(words) }), { text: words, failed: true }],
    [
      "of a tool that is completed",
      ended({ status: "completed", content: said(words) }),
      { text: words, failed: false }
    ],
    [
      "of a command whose exit code stands in its words",
      ended({ status: "completed", content: said(`${words}\nExit Code: 1`) }),
      { text: `${words}\nExit Code: 1`, failed: true }
    ],
    [
      "of a command whose exit code the agent passes on",
      ended({ status: "completed", rawOutput: { output: words, metadata: { exit: 1 } } }),
      { text: words, failed: true }
    ],
    [
      "of a command that went well in the end",
      ended({ status: "completed", rawOutput: { stdout: words, exit_code: 0 } }),
      { text: words, failed: false }
    ],
    [
      "in the name that Node has for it",
      ended({ status: "failed", content: said("EROFS: open '/data/x'") }),
      { text: "EROFS: open '/data/x'", failed: true }
    ],
    ["is nothing while it goes on", ended({ status: "in_progress", content: said(words) }), undefined],
    ["is nothing where it is about something else", ended({ status: "failed", content: said("No space") }), undefined],
    [
      "is nothing in the agent's own words",
      { sessionUpdate: "agent_message_chunk", content: { type: "text", text: words } },
      undefined
    ]
  ]
  it.each(cases)("%s", (_, update, expected) => {
    assert.deepStrictEqual(toolWords(update), expected)
  })
})
