import { assert, describe, it } from "@effect/vitest"
import type { ConsoleEvent, PublicEvent } from "@reprise/protocol"
import { timelineOf, withNewer, workedMs } from "../src/data/timeline.ts"

const at = (second: number) => new Date(Date.UTC(2026, 0, 2, 10, 0, second)).toISOString()
const seen = (sequence: number, event: { readonly _tag: PublicEvent["_tag"]; readonly [field: string]: unknown }) =>
  ({
    sequence,
    time: at(sequence),
    event: { runId: "r1", ...event },
    line: event._tag,
    isDetail: false
  }) as ConsoleEvent

const used = { tokens: { input: 10, output: 5, reasoning: 0, cacheRead: 3, cacheWrite: 0 }, cost: 0.5, calls: 2 }

const story = [
  seen(1, { _tag: "RunStarted", phases: [] }),
  seen(2, { _tag: "StepStarted", step: "PREPARE", attempt: 1 }),
  seen(3, { _tag: "PhaseStarted", phase: "1", title: "One" }),
  seen(4, { _tag: "StepStarted", phase: "1", step: "EXECUTE", attempt: 1 }),
  seen(5, { _tag: "SessionCreated", phase: "1", sessionId: "s1" }),
  seen(6, { _tag: "TurnCompleted", phase: "1", sessionId: "s1", ...used }),
  seen(7, { _tag: "EscalationRaised", phase: "1", escalationId: "e1" }),
  seen(17, { _tag: "EscalationAnswered", phase: "1", escalationId: "e1" }),
  seen(18, {
    _tag: "StepStarted",
    phase: "1",
    step: "EXECUTE",
    attempt: 2,
    session: { choice: "continue", why: "you chose it" },
    agent: { role: "author", runtime: "claude", by: "anna" }
  }),
  seen(19, { _tag: "TurnFailed", phase: "1", sessionId: "s1", ...used }),
  seen(20, { _tag: "PhaseCompleted", phase: "1", by: "review" }),
  seen(21, { _tag: "RunCompleted" })
]

describe("the timeline of a run", () => {
  it("has the steps of each phase in their order, with their sessions, usage and waits", () => {
    const [before, one, ...more] = timelineOf(story)
    assert.deepStrictEqual(more, [])
    assert.deepStrictEqual(
      before?.steps.map(({ endedAt, step }) => [step, endedAt]),
      [["PREPARE", at(4)]]
    )
    assert.strictEqual(one?.title, "One")
    assert.strictEqual(one?.outcome?.by, "review")
    const [first, second] = one?.steps ?? []
    assert.deepStrictEqual(first?.sessions, ["s1"])
    assert.deepStrictEqual(first?.usage, used)
    assert.deepStrictEqual(first?.waits, [{ escalationId: "e1", from: at(7), until: at(17) }])
    assert.strictEqual(second?.attempt, 2)
    assert.strictEqual(second?.session?.choice, "continue")
    assert.deepStrictEqual(second?.agent, { role: "author", runtime: "claude", by: "anna" })
    assert.strictEqual(second?.endedAt, at(21))
  })

  it("does not count a wait for a human as work", () => {
    const [, one] = timelineOf(story)
    const [first] = one?.steps ?? []
    assert.isDefined(first)
    assert.strictEqual(workedMs(first as NonNullable<typeof first>, 0), 4_000)
  })

  it("has a step that goes on, and a wait that goes on", () => {
    const [, one] = timelineOf(story.slice(0, 7))
    const [step] = one?.steps ?? []
    assert.isUndefined(step?.endedAt)
    assert.deepStrictEqual(step?.waits, [{ escalationId: "e1", from: at(7) }])
    assert.strictEqual(workedMs(step as NonNullable<typeof step>, Date.parse(at(60))), 3_000)
  })

  it("is empty before anything happened", () => assert.deepStrictEqual(timelineOf([]), []))
})

describe("adding events to a story", () => {
  it("leaves out what it has, and keeps it as it is when nothing is new", () => {
    const known = story.slice(0, 3)
    assert.strictEqual(withNewer(known, story.slice(0, 2)), known)
    assert.deepStrictEqual(withNewer(known, story.slice(1, 5)), story.slice(0, 5))
    assert.deepStrictEqual(withNewer([], story), story)
  })
})
