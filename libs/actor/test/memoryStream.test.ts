import { assert, describe, it } from "@effect/vitest"
import { makeMemoryStream } from "../src/memory/MemoryStream.ts"

describe("a stream in memory", () => {
  it("drops a repeat for ten minutes, as the real one does, and stores it again later", () => {
    let nowMs = 0
    const stream = makeMemoryStream(() => nowMs)
    const meta = { id: "m1", type: "T", source: "/gate/h", subject: "r1", time: "2026-01-01T00:00:00.000Z" }
    const store = () => stream.store({ subject: "p.command.gate.k", meta, body: "{}" })
    assert.strictEqual(store(), 1)
    nowMs = 10 * 60_000 - 1
    assert.strictEqual(store(), 1)
    nowMs += 1
    assert.strictEqual(store(), 2)
  })
})
