import { assert, describe, it } from "@effect/vitest"
import { type Look, look, watchFrom } from "../src/system/agents/memory.ts"

const start: Look = { activity: 0, cpuMs: 0, atMs: 0 }

/** After which of the looks, ten seconds apart, memory is released: each says what has happened since the one before. */
const released = (intervals: ReadonlyArray<{ readonly events?: number; readonly cpuMs?: number }>) => {
  let watched = watchFrom(start)
  return intervals.flatMap(({ cpuMs = 0, events = 0 }, n) => {
    const { last } = watched
    const { releases, ...rest } = look(watched, {
      activity: last.activity + events,
      cpuMs: last.cpuMs + cpuMs,
      atMs: last.atMs + 10_000
    })
    watched = rest
    return releases ? [n] : []
  })
}

describe("the memory of a host", () => {
  it("is released once after its start and after each burst", () => {
    assert.deepStrictEqual(released([{}, {}, {}]), [0])
    assert.deepStrictEqual(released([{}, { events: 5 }, { events: 1 }, {}, {}]), [0, 3])
  })

  it("is not released while the host works, whatever it does", () => {
    assert.deepStrictEqual(released([{}, { cpuMs: 2_000 }, { cpuMs: 9_000 }, { cpuMs: 20 }, {}]), [0, 3])
  })

  it("is released every ten minutes while a little happens all the time", () => {
    const trickle = Array.from({ length: 180 }, () => ({ events: 30, cpuMs: 500 }))
    assert.deepStrictEqual(released(trickle), [59, 119, 179])
  })

  it("waits for the end of work also after ten minutes", () => {
    const working = Array.from({ length: 70 }, () => ({ events: 30, cpuMs: 5_000 }))
    assert.deepStrictEqual(released([...working, { events: 1, cpuMs: 10 }]), [70])
  })
})
