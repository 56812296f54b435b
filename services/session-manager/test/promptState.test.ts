/** What a prompt has used, and whether a human is in its session. */
import { assert, describe, it } from "@effect/vitest"
import { noTokens, noUsage } from "@reprise/protocol"
import { Duration } from "effect"
import { inspectedAt, promptStarted, tokensSeen } from "../src/work/promptState.ts"
import { isHumanIn } from "../src/work/runtimeSession.ts"

const tokens = { ...noTokens, input: 700 }
const inspection = { state: { _tag: "busy" }, messageCount: 3, usage: { tokens, cost: 2, calls: 9 } } as const

describe("a prompt in a session that was used before", () => {
  it("takes for its own what the runtime's total has grown by", () => {
    const counted = { tokens: { ...noTokens, input: 500 }, cost: 1.5, calls: 4 }
    const { used } = inspectedAt(promptStarted({ kind: "work" }, 0), inspection, { counted }, 1)
    assert.deepStrictEqual(used, { tokens: { ...noTokens, input: 200 }, cost: 0.5, calls: 5 })
  })
})

describe("a human in the session of a prompt", () => {
  const own = { own: "ours", prompts: ["earlier"] }
  const seen = (state: "idle" | "busy", causePromptId: string, atMs = 0) => ({
    ...inspection,
    state: { _tag: state },
    lastMessage: { id: "m", role: "assistant" as const, causePromptId, finished: true, atMs }
  })
  const isIn = (found: ReturnType<typeof seen>, now: number) => isHumanIn(found, own, Duration.millis(10), now)

  it("is present while the agent works on their words, and for the grace after it stops", () => {
    assert.isTrue(isIn(seen("busy", "theirs"), 1000))
    assert.isTrue(isIn(seen("idle", "theirs", 1000), 1009))
    assert.isFalse(isIn(seen("idle", "theirs", 1000), 1010))
  })

  it("is not present where the newest words are ours or known, however long their interface is open", () => {
    for (const id of ["ours", "earlier"]) assert.isFalse(isIn(seen("busy", id), 0))
    assert.isFalse(isHumanIn({ ...inspection, state: { _tag: "empty" } }, own, Duration.millis(10), 0))
  })
})

describe("a prompt that is sent again", () => {
  it("counts all attempts for its limits, and this attempt alone as work", () => {
    const again = inspectedAt(promptStarted({ kind: "work" }, 0), inspection, { counted: noUsage }, 1)
    assert.deepStrictEqual([again.used.calls, again.tokens], [9, noTokens])
    assert.deepStrictEqual(tokensSeen(again, { ...noTokens, output: 5 }).tokens.output, 5)
  })
})
