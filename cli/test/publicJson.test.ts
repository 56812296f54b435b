import { assert, describe, it } from "@effect/vitest"
import { RunId } from "@reprise/protocol"
import { publicJson } from "../src/views/publicJson.ts"

const runId = RunId.make("r1")
const meta = { id: "run.r1.1.0", time: "2026-01-01T10:00:00.000Z" }

describe("an event as a line of JSON", () => {
  it("begins with type, time, id and run", () => {
    const line = publicJson({ _tag: "RunAborted", runId, reason: "enough" }, meta)
    assert.strictEqual(
      JSON.stringify(line),
      `{"type":"RunAborted","time":"${meta.time}","id":"${meta.id}","runId":"r1","reason":"enough"}`
    )
  })

  it("has both the event's type and the checkpoint's type", () => {
    const line = publicJson({ _tag: "CheckpointReached", runId, task: "T2", type: "decision" }, meta)
    assert.deepStrictEqual(line, { type: "CheckpointReached", ...meta, runId, task: "T2", checkpointType: "decision" })
  })
})
