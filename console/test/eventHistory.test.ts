import { assert, describe, it } from "@effect/vitest"
import { type EventHistory, historyAfter, missingAfter, newestOf, withEvent } from "../src/stream/EventHistory.ts"

const heard = (history: EventHistory, sequences: ReadonlyArray<number>, heardAtMs = 0): EventHistory =>
  sequences.reduce((now, sequence) => withEvent(now, { sequence, data: `e${sequence}`, heardAtMs }), history)
const again = historyAfter(undefined)
const given = (history: EventHistory, after: number, nowMs = 0) => {
  const { events, resumed } = missingAfter(history, after, nowMs)
  return { resumed, events: events.map(({ sequence }) => sequence) }
}

describe("what a page gets of the events that its browser has heard", () => {
  it.each<[string, EventHistory, number, ReturnType<typeof given>]>([
    ["that is new: those of the last seconds", heard(again, [7, 8]), 0, { resumed: false, events: [7, 8] }],
    ["that was away: those that it lacks", heard(again, [7, 8, 9]), 7, { resumed: true, events: [8, 9] }],
    ["that has the one before the first: all", heard(again, [7, 8]), 6, { resumed: true, events: [7, 8] }],
    ["that was away for longer: it begins again", heard(again, [7, 8]), 5, { resumed: false, events: [7, 8] }],
    ["that lacks nothing: nothing", heard(again, [7]), 7, { resumed: true, events: [] }],
    ["of another stream: it begins again", heard(again, [7]), 9, { resumed: false, events: [7] }],
    ["after which the stream goes on", heard(historyAfter(4), [5]), 4, { resumed: true, events: [5] }],
    ["when the stream has begun again", again, 4, { resumed: false, events: [] }]
  ])("%s", (_, history, after, expected) => assert.deepStrictEqual(given(history, after), expected))

  it("leaves out what comes twice", () => {
    const history = heard(again, [3, 4])
    assert.strictEqual(heard(history, [4, 3]), history)
    assert.strictEqual(newestOf(history), 4)
  })

  it("gives a new page nothing that is older than a few seconds, since the lists have it", () =>
    assert.deepStrictEqual(given(heard(again, [3]), 0, 6_000), { resumed: false, events: [] }))

  it("keeps the newest, and knows where they begin", () => {
    const history = heard(
      again,
      Array.from({ length: 600 }, (_, n) => n + 1)
    )
    assert.deepStrictEqual([history.floor, history.events.length], [100, 500])
    assert.isTrue(given(history, 100).resumed)
    assert.isFalse(given(history, 99).resumed)
  })
})
