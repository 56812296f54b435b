import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { KnownSessions } from "../src/claude/session/KnownSessions.ts"
import { changePrompted, readRecord, withPrompted } from "../src/claude/session/SessionRecord.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "reprise-record-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const id = "00000000-0000-4000-8000-000000000000"

describe("the record of a session on Claude", () => {
  it.live("keeps an abort, an answer and a prompt that are recorded at the same moment", () =>
    Effect.gen(function* () {
      const state = yield* folder
      const sessions = new KnownSessions(state, join(state, "claude"))
      const record = { version: 1, id, directory: state, title: "t", permissions: "ask" } as const
      const known = yield* sessions.save({ ...record, begun: true, prompts: [] })
      yield* sessions.update(known, (it) => withPrompted(it, { messageId: "m1", uuids: ["u1"] }))
      yield* Effect.all(
        [
          sessions.update(known, (it) => ({ ...it, title: `${it.title}, edited` })),
          sessions.update(known, changePrompted("m1", { aborted: true })),
          sessions.update(known, (it) => ({ ...it, title: `${it.title}, written` })),
          sessions.update(known, (it) => withPrompted(it, { messageId: "m2", uuids: ["u2"] }))
        ],
        { concurrency: "unbounded" }
      )
      const written = Option.getOrThrow(yield* readRecord(state, id))
      assert.strictEqual(written.title, "t, edited, written")
      assert.deepStrictEqual(written.prompts, [
        { messageId: "m1", uuids: ["u1"], aborted: true },
        { messageId: "m2", uuids: ["u2"] }
      ])
      assert.deepStrictEqual(known.record, written)
    })
  )
})
