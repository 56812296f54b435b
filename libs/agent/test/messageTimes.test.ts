import { assert, describe, it } from "@effect/vitest"
import { MessageTimes } from "../src/opencode/turn/MessageTimes.ts"

const at = (id: string, created: number) => ({ id, time: { created } })

describe("the times of a session's messages", () => {
  it("show no step while each message is newer than the last, or older by less than a second", () => {
    const times = new MessageTimes([at("b", 2000), at("a", 1000)])
    for (const message of [at("c", 3000), at("d", 2500), at("a", 1000), at("c", 3000)]) times.note(message)
    assert.strictEqual(times.backMs, 0)
    assert.strictEqual(times.late.size, 0)
  })

  it("show how far the clock was set back, and what was made after that", () => {
    const times = new MessageTimes([at("a", 100_000)])
    times.note(at("b", 110_000))
    times.note(at("c", 90_000))
    times.note(at("d", 91_000))
    assert.strictEqual(times.backMs, 20_000)
    assert.deepStrictEqual([...times.late], ["c", "d"])
  })

  it("show the smallest step before the prompt, which would count as answered by the turn before it", () => {
    const times = new MessageTimes([at("a", 1000), at("b", 2000)], "prompt")
    times.note(at("prompt", 1999))
    assert.strictEqual(times.backMs, 1)
    assert.deepStrictEqual([...times.late], ["prompt"])
  })

  it("show no step when the prompt is noted after its answers", () => {
    const times = new MessageTimes([at("a", 1000)], "prompt")
    for (const message of [at("answer", 60_000), at("prompt", 2000)]) times.note(message)
    assert.strictEqual(times.backMs, 0)
  })

  it("show a step when a prompt is sent again, which is not a message of its own", () => {
    const times = new MessageTimes([at("a", 50_000), at("b", 100_000)])
    times.note(at("a", 80_000))
    assert.strictEqual(times.backMs, 20_000)
    assert.strictEqual(times.late.size, 0)
  })
})
