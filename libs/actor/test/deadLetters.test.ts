import { assert, describe, it } from "@effect/vitest"
import { encodeMeta } from "@reprise/protocol"
import { Result } from "effect"
import { replayOf } from "../src/messenger/deadLetters.ts"

const meta = { id: "c-1", type: "Add", source: "/gate/x", subject: "r1", time: "2026-01-01T00:00:00.000Z" }
const storedAt = "2026-01-01T00:00:01.000Z"
const later = Date.parse(storedAt) + 10 * 60_000

const letter = (stream: string, subject: string, headers: Record<string, string> = encodeMeta(meta)) => ({
  sequence: 7,
  time: storedAt,
  content: { service: "gate", reason: "it threw", stream, subject, sequence: 3, deliveries: 1, headers, body: "{}" }
})
const why = (result: ReturnType<typeof replayOf>) => (Result.isFailure(result) ? result.failure.message : "none")

describe("the message of a dead letter", () => {
  it.each([
    ["commands", "t.command.gate.a", {}],
    ["work", "t.work.gate.any.a", {}],
    ["events", "t.event.gate.r1.RunPaused", {}],
    ["timers", "t.timer.gate.a", { dueAt: new Date(later).toISOString() }]
  ])("of the stream %s is sent again as it was, a timer at once", (stream, subject, due) => {
    const again = Result.getOrThrow(replayOf(letter(stream, subject), later))
    assert.deepStrictEqual<unknown>(again, { subject, body: "{}", meta, ...due })
  })

  it("is not sent again while the broker would drop its id", () => {
    const early = replayOf(letter("commands", "t.command.gate.a"), later - 1)
    assert.match(why(early), /until 2026-01-01T00:10:01/)
  })

  it.each([
    ["the letter cannot be read", { sequence: 7, time: storedAt, content: undefined }],
    ["its envelope is wrong", letter("commands", "t.command.gate.a", {})],
    ["its subject is of another stream", letter("commands", "t.event.gate.r1.RunPaused")]
  ])("is not sent again when %s", (_, of) => assert.match(why(replayOf(of, later)), /cannot be read/))
})
