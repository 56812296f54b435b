/** What a repository, an agent or its own program can have in the place of each file that an adapter reads. */
import { createHash } from "node:crypto"
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { oddFiles } from "@reprise/process/testing"
import { Effect, Option } from "effect"
import { readRecord as readAcpRecord } from "../src/acp/session/AcpRecord.ts"
import { readRecord } from "../src/claude/session/SessionRecord.ts"
import { findTranscript, subagentPaths, TranscriptFile } from "../src/claude/transcript/TranscriptFile.ts"
import { instructionsIn } from "../src/claude/turn/instructions.ts"

let directory = ""
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "reprise-agent-odd-"))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const id = "00000000-0000-4000-8000-000000000001"
/** The name of the record of a session with an ACP agent. */
const hashed = createHash("sha256").update("x1").digest("hex")
const entry = (text: string) =>
  `${JSON.stringify({ type: "user", uuid: text, timestamp: "2026-01-01T00:00:00Z", message: { role: "user", content: text } })}\n`

const refreshed = (path: string) =>
  new TranscriptFile(path).refresh().then(
    (isThere) => (isThere ? "read" : "none"),
    () => "refused"
  )

describe("a file that an adapter reads", () => {
  it.each(oddFiles)("is not waited for where it is $name", async ({ code, put }) => {
    const expected = code === undefined ? "none" : "refused"
    const rows: ReadonlyArray<readonly [string, () => Promise<string>, string]> = [
      ["AGENTS.md", async () => (await Effect.runPromise(instructionsIn(directory))) ?? "none", "none"],
      [`projects/p/${id}.jsonl`, () => refreshed(join(directory, `projects/p/${id}.jsonl`)), expected],
      ["projects", async () => (await findTranscript(directory, id)) ?? "none", "none"],
      [`${id}/subagents`, async () => (await subagentPaths(join(directory, `${id}.jsonl`))).join() || "none", "none"],
      [
        `claude/sessions/${id}.json`,
        async () =>
          Option.getOrElse(Option.as(await Effect.runPromise(readRecord(directory, id)), "read"), () => "none"),
        "none"
      ],
      [
        `${hashed}.json`,
        async () =>
          Option.getOrElse(Option.as(await Effect.runPromise(readAcpRecord(directory, "x1")), "read"), () => "none"),
        "none"
      ]
    ]
    for (const [path, read, outcome] of rows) {
      const absolute = join(directory, path)
      rmSync(absolute, { recursive: true, force: true })
      mkdirSync(dirname(absolute), { recursive: true })
      const remove = await put(absolute)
      assert.strictEqual(await read(), outcome, path)
      remove()
    }
  })

  it("is a transcript that grows: each look reads what was added, and what was replaced from its beginning", async () => {
    const path = join(directory, "t.jsonl")
    const file = new TranscriptFile(path)
    writeFileSync(path, entry("one"))
    assert.isTrue(await file.refresh())
    appendFileSync(path, entry("two").slice(0, 20))
    await file.refresh()
    assert.lengthOf(file.entries, 1)
    appendFileSync(path, entry("two").slice(20))
    await file.refresh()
    assert.lengthOf(file.entries, 2)
    writeFileSync(path, entry("3"))
    await file.refresh()
    assert.lengthOf(file.entries, 1)
    assert.strictEqual(await file.text(), entry("3"))
  })
})
