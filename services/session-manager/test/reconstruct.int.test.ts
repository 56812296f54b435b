import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import type { Message } from "@reprise/agent/message"
import { Effect } from "effect"
import { contextOf } from "../src/work/reconstruct.ts"

/** A conversation in which a file was read at this time. */
const reading = (timestamp: string): ReadonlyArray<Message> => [
  {
    id: "m1",
    role: "assistant",
    timestamp,
    content: [
      { type: "tool_use", tool_use: { id: "c1", name: "read", input: { filePath: "a.js" } } },
      { type: "tool_result", tool_result: { toolUseId: "c1", output: "what it held", isError: false } }
    ]
  }
]

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "reprise-reconstruct-"))),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true }))
)

describe("a conversation that is told to a new session", () => {
  it.effect("has no content of a file that was written since, also where a command set its time back", () =>
    Effect.gen(function* () {
      const directory = yield* folder
      const file = join(directory, "a.js")
      writeFileSync(file, "what it holds now")
      utimesSync(file, 0, 0)
      const told = (at: string) => contextOf({ messages: reading(at), savedAt: at }, directory)
      assert.notInclude(yield* told("2020-01-01T00:00:00.000Z"), "what it held")
      assert.include(yield* told("2999-01-01T00:00:00.000Z"), "what it held")
    })
  )
})
