import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { ActorConfig, Broker, MemoryBroker } from "@reprise/actor"
import { readSessionFile } from "@reprise/session-manager/transcript"
import { Effect, Layer, Result } from "effect"
import { keepConversations } from "../src/flows/records/archive.ts"
import { awaitsArchive, awaitsSaving } from "../src/system/lookUp/lookUp.ts"
import { aSession } from "./support/views.ts"

const own = "session/r1-abc-s1/ses_2"
const said = (id: string) => ({ id, role: "user", content: [{ type: "text", text: `Message ${id}.` }] })
const savedAt = "2026-01-01T10:00:01.000Z"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "reprise-keep-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

describe("the conversations of a run that is pruned", () => {
  it.effect("become one file each, also where a session was saved in parts alone", () =>
    Effect.gen(function* () {
      const root = yield* folder
      const { transcripts } = yield* Broker
      const put = (object: string, part: object) => transcripts.put(object, JSON.stringify({ savedAt, ...part }))
      yield* put("session/r1-abc-s1/ses_1/a", { messages: [said("1")] })
      yield* put(`${own}/a`, { messages: [said("2"), said("3")] })
      yield* put(`${own}/unreported`, { messages: [said("9")] })
      yield* put(`${own}/b`, { messages: [said("4")], after: { object: `${own}/a`, messages: 1 } })
      const session = aSession({ status: "failed", runtimeSessionId: "ses_2", transcript: `${own}/b`, savedAt })
      yield* keepConversations({ root, directory: root }, [session])
      const files = join(root, "agent-sessions", "r1-abc-s1")
      assert.deepStrictEqual(readdirSync(files).sort(), ["session-ses_1.json", "session.json"])
      const kept = Result.getOrThrow(readSessionFile(readFileSync(join(files, "session.json"), "utf8")))
      assert.deepStrictEqual(
        kept.messages.map(({ id }) => id),
        ["2", "4"]
      )
      assert.deepStrictEqual(yield* transcripts.list("session/"), [])
    }).pipe(Effect.provide(MemoryBroker.layer.pipe(Layer.provide(ActorConfig.layer()))))
  )
})

describe("a conversation", () => {
  const opened = { runtimeSessionId: "ses_2" }
  it.each([
    ["awaits its archive while only parts of it are saved", { ...opened, transcript: `${own}/b` }, true],
    ["is archived as one object", { ...opened, transcript: own }, false],
    ["of a session that never opened is not archived", {}, false]
  ])("%s", (_, more, expected) => {
    assert.strictEqual(awaitsArchive(aSession(more)), expected)
  })

  it.each([
    ["awaits saving after its first turn", opened, true],
    ["is saved when that was read after its last activity", { ...opened, savedAt }, false],
    ["awaits saving after more activity", { ...opened, savedAt, lastActivityAt: "2026-01-01T10:00:02.000Z" }, true],
    ["is saved at the end of a turn, not within one", { ...opened, turnId: "r1-abc-t1" }, false],
    ["of an ended session is archived instead", { ...opened, status: "aborted" }, false]
  ])("%s", (_, more, expected) => {
    assert.strictEqual(awaitsSaving(aSession({ status: "active", ...more })), expected)
  })
})
