import { assert, describe, it } from "@effect/vitest"
import { noTokens, noUsage, type TurnLimits } from "@reprise/protocol"
import { Duration } from "effect"
import { defaultSettings } from "../src/settings.ts"
import {
  activeAt,
  humanSeen,
  type PromptState,
  promptStarted,
  questionAnswered,
  questionAsked,
  recoveringAt,
  wordsSeen
} from "../src/work/promptState.ts"
import { answerReached, reachedLimit } from "../src/work/turnLimits.ts"
import { start } from "./support/story.ts"

const startMs = Date.parse(start)
const minute = 60_000
const maxWaitMs = 60 * minute
const work = (limits: TurnLimits) => ({
  limits,
  turnStartedAt: start,
  turnWaitedMs: 0,
  usedBefore: { ...noUsage, tokens: { ...noTokens, input: 100 }, calls: 3 }
})
const prompt = promptStarted({ kind: "work" }, startMs)
const limitAt = (state: PromptState, limits: TurnLimits, ms: number) =>
  reachedLimit(state, work(limits), Duration.millis(maxWaitMs), startMs + ms)?.kind

describe("a limit", () => {
  it("is exceeded above its value, not at it", () => {
    const used: PromptState = {
      ...prompt,
      used: { tokens: { ...noTokens, output: 50, cacheRead: 900 }, cost: 0.5, calls: 2 }
    }
    assert.isUndefined(limitAt(used, { maxTokens: 150 }, 0))
    assert.strictEqual(limitAt(used, { maxTokens: 149 }, 0), "turn-limit")
    assert.isUndefined(limitAt(used, { maxCost: 0.5 }, 0))
    assert.strictEqual(limitAt(used, { maxCost: 0.49 }, 0), "turn-limit")
    assert.isUndefined(limitAt(used, { maxCalls: 5 }, 0))
    assert.strictEqual(limitAt(used, { maxCalls: 4 }, 0), "turn-limit")
    assert.isUndefined(limitAt(prompt, { inactivityMs: minute }, minute))
    assert.strictEqual(limitAt(prompt, { inactivityMs: minute }, minute + 1), "timeout")
    assert.isUndefined(limitAt(prompt, { wallMs: minute }, minute))
    assert.strictEqual(limitAt(prompt, { wallMs: minute }, minute + 1), "timeout")
  })

  it("is off when it is absent or zero", () => {
    for (const limits of [{}, { inactivityMs: 0, wallMs: 0, maxTokens: 0 }]) {
      assert.isUndefined(limitAt(prompt, limits, 1000 * minute))
    }
  })

  it("on inactivity counts from the last activity", () => {
    const active = activeAt(prompt, startMs + minute)
    assert.isUndefined(limitAt(active, { inactivityMs: minute }, 2 * minute))
    assert.strictEqual(limitAt(active, { inactivityMs: minute }, 2 * minute + 1), "timeout")
  })

  it("on time does not include the wait for a human", () => {
    const limits = { inactivityMs: minute, wallMs: 2 * minute }
    const asked = questionAsked(questionAsked(prompt, "p1", startMs + minute), "p2", startMs + 2 * minute)
    assert.isUndefined(limitAt(asked, limits, 100 * minute))
    const half = questionAnswered(asked, "p1", startMs + 50 * minute)
    assert.isUndefined(limitAt(half, limits, 100 * minute))
    const answered = questionAnswered(half, "p2", startMs + 100 * minute)
    assert.strictEqual(answered.waitedForHumanMs, 99 * minute)
    assert.isUndefined(limitAt(answered, limits, 101 * minute))
    assert.strictEqual(limitAt(answered, limits, 101 * minute + 1), "timeout")
  })

  it("on time does not include what a human does in the session, and counts no time twice", () => {
    const limits = { wallMs: 2 * minute }
    const present = humanSeen(prompt, true, startMs + minute)
    assert.isUndefined(limitAt(present, limits, 100 * minute))
    const asked = questionAsked(humanSeen(present, true, startMs + 5 * minute), "p1", startMs + 10 * minute)
    const answered = questionAnswered(asked, "p1", startMs + 20 * minute)
    const alone = humanSeen(answered, false, startMs + 100 * minute)
    assert.strictEqual(alone.waitedForHumanMs, 99 * minute)
    assert.isUndefined(limitAt(alone, limits, 101 * minute))
    assert.strictEqual(limitAt(alone, limits, 101 * minute + 1), "timeout")
  })

  it("on inactivity holds for an agent that hangs while a human is present", () => {
    const present = humanSeen(prompt, true, startMs)
    assert.strictEqual(limitAt(present, { inactivityMs: minute }, minute + 1), "timeout")
  })

  it("on waiting is the only one that applies while the runtime retries, and it names the failure", () => {
    const retrying = recoveringAt(recoveringAt(prompt, "rate_limited", startMs), "other", startMs + minute)
    assert.isUndefined(limitAt(retrying, { inactivityMs: minute }, maxWaitMs))
    assert.strictEqual(limitAt(retrying, { inactivityMs: minute }, maxWaitMs + 1), "rate_limited")
    assert.isUndefined(limitAt(activeAt(retrying, startMs + maxWaitMs), {}, maxWaitMs + 1))
  })
})

describe("an answer", () => {
  const written = (...pieces: ReadonlyArray<readonly [part: string, text: string, omitted: number]>) =>
    pieces.reduce((state, [part, text, omitted]) => wordsSeen(state, { part, text, omitted }), prompt)

  it.each([
    [
      "is as long as all of its pieces, with what was left out of them",
      [
        ["a", "12", 3],
        ["a", "345", 0]
      ],
      8
    ],
    [
      "begins again with another part",
      [
        ["a", "12", 300],
        ["b", "345", 0]
      ],
      3
    ]
  ] as const)("%s", (_, pieces, characters) => {
    assert.strictEqual(written(...pieces).writing.characters, characters)
  })

  it("stops the turn above its limit, not at it, and is said with how long it was", () => {
    const { longestAnswerChars } = defaultSettings
    assert.isUndefined(answerReached(written(["a", "", longestAnswerChars]), longestAnswerChars))
    assert.deepStrictEqual(answerReached(written(["a", "x", longestAnswerChars]), longestAnswerChars), {
      kind: "turn-limit",
      message:
        "The agent was stopped: it had written 4 194 305 characters in one answer, and one may have 4 194 304 characters. To continue is to let it write less; what it wrote is in its conversation."
    })
  })
})
