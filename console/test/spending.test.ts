import { assert, describe, it } from "@effect/vitest"
import type { ConsoleEvent, PublicEvent } from "@reprise/protocol"
import { keptOf, spendingOf } from "../src/data/spending.ts"
import { timelineOf } from "../src/data/timeline.ts"

const seen = (sequence: number, event: { readonly _tag: PublicEvent["_tag"]; readonly [field: string]: unknown }) =>
  ({
    sequence,
    time: new Date(Date.UTC(2026, 0, 2, 10, 0, sequence)).toISOString(),
    event: { runId: "r1", ...event },
    line: event._tag,
    isDetail: false
  }) as ConsoleEvent

const used = (input: number, cost: number) => ({
  tokens: { input, output: 1, reasoning: 0, cacheRead: 1_000, cacheWrite: 0 },
  cost,
  calls: 1
})
const step = (sequence: number, phase: string, step: string) =>
  seen(sequence, { _tag: "StepStarted", phase, step, attempt: 1 })
const turn = (sequence: number, phase: string, sessionId: string, input: number, context?: number) => [
  seen(sequence, { _tag: "TurnStarted", phase, sessionId }),
  seen(sequence + 1, {
    _tag: "TurnCompleted",
    phase,
    sessionId,
    ...used(input, 0.25),
    ...(context === undefined ? {} : { context: { tokens: context } })
  })
]

describe("what a run has used", () => {
  const story = [
    seen(1, { _tag: "StepStarted", step: "PREPARE", attempt: 1 }),
    seen(2, { _tag: "PhaseStarted", phase: "1", title: "One" }),
    step(3, "1", "EXECUTE"),
    ...turn(4, "1", "a1", 100, 5_000),
    step(6, "1", "REVIEW"),
    ...turn(7, "1", "r1", 40, 2_000),
    step(9, "1", "AUTO_FIX"),
    ...turn(10, "1", "a1", 20, 6_000),
    seen(12, { _tag: "PhaseStarted", phase: "2", title: "Two" }),
    step(13, "2", "EXECUTE"),
    ...turn(14, "2", "a1", 30),
    ...turn(16, "2", "a1", 30),
    seen(18, { _tag: "PhaseStarted", phase: "3", title: "Three" }),
    step(19, "3", "QUALITY_CHECK")
  ]

  it("is added up by phase and role, without what came from a cache", () => {
    assert.deepStrictEqual(spendingOf(timelineOf(story)), [
      { phase: "1", authorTokens: 122, reviewerTokens: 41, authorCost: 0.5, reviewerCost: 0.25 },
      { phase: "2", authorTokens: 62, reviewerTokens: 0, authorCost: 0.5, reviewerCost: 0 }
    ])
  })

  it("is less by the context with which sessions were continued, as far as it is known", () => {
    assert.deepStrictEqual(keptOf(story), { turns: 3, tokens: 5_000 + 6_000 + 6_000 })
  })

  it("has kept nothing where no session was continued", () => {
    assert.deepStrictEqual(keptOf(story.slice(0, 6)), { turns: 0, tokens: 0 })
    assert.deepStrictEqual(keptOf([]), { turns: 0, tokens: 0 })
  })
})
