/** A turn that waits for its model's vendor: until when, and a human who does not want to wait. */
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { viewOf } from "../src/machine/view.ts"
import type { SessionInput } from "../src/session/inputs.ts"
import { at, failed, firstTurn, given, givenWith, sessionId, stopped, t } from "./support/story.ts"

const working = firstTurn.slice(0, 2)
const waiting = [...working, failed(1, 1, "rate_limited", { retryAfterMs: 600_000 })]
const retryNow: SessionInput = { _tag: "RetryTurn", sessionId, turnId: t(1) }
const timer = (wait?: number): SessionInput => ({
  _tag: "RetryPrompt",
  turnId: t(1),
  number: 1,
  ...(wait === undefined ? {} : { wait })
})

describe("a turn that waits for its model's vendor", () => {
  it("says until when, each time", () => {
    const first = given(working).when(failed(1, 1, "rate_limited", { retryAfterMs: 600_000 }))
    assert.deepInclude(first.event("AgentFailed"), { kind: "rate_limited", until: at(660) })
    const second = given([...waiting, timer()]).when(failed(1, 1, "rate_limited"))
    assert.deepStrictEqual(second.types, ["AgentFailed", "TurnWaiting"])
    assert.strictEqual(second.event("AgentFailed").until, at(120))
  })

  it("says so in its view, and no longer when it goes on, is interrupted or has ended", () => {
    const view = (...more: ReadonlyArray<SessionInput>) => viewOf(given([...waiting, ...more]).state)?.postponed
    assert.deepStrictEqual(view(), { until: at(602), kind: "rate_limited", message: "it was rate_limited" })
    assert.isUndefined(view(timer()))
    assert.isUndefined(view({ _tag: "InterruptTurn", sessionId, turnId: t(1), reason: "the run is paused" }))
    assert.isUndefined(viewOf(given(firstTurn).state)?.postponed)
  })

  it("is not one that waits for its runtime, or before a nudge", () => {
    const patient = givenWith({
      actions: { onGone: [{ action: "continue", attempts: 9, cooldownMs: 60_000 }] }
    })
    const gone = [...working, failed(1, 1, "gone"), failed(1, 1, "gone")]
    assert.strictEqual(patient(gone).state.turn?.stage, "waiting")
    assert.isUndefined(viewOf(patient(gone).state)?.postponed)
    const nudging = givenWith({ actions: { onIdle: [{ action: "nudge", attempts: 9, cooldownMs: 60_000 }] } })
    const silent = { toolCalls: 0, tokens: { input: 1, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0 } }
    const idle = [...working, stopped(1, 1, "unfinished", silent), stopped(1, 2, "unfinished", silent)]
    assert.strictEqual(nudging(idle).state.turn?.stage, "waiting")
    assert.isUndefined(viewOf(nudging(idle).state)?.postponed)
  })

  it("tries again at once when a human says so, under the same ids", () => {
    const { identity } = given(waiting).state.turn?.prompt ?? assert.fail("nothing was prompted")
    const outcome = given(waiting).when(retryNow)
    assert.deepStrictEqual(outcome.types, ["TurnRetried", "PromptRetried"])
    assert.deepInclude(outcome.event("TurnRetried"), { sessionId, turnId: t(1) })
    assert.deepInclude(outcome.work[0]?.work, { _tag: "RunPrompt", number: 1, identity })
  })

  it("has waited only until then", () => {
    // It failed after 2 seconds, and is told to go on a second later.
    const after = given([...waiting, retryNow]).state
    assert.strictEqual(after.turn?.waitedMs, 1_000)
  })

  it("is not woken from its next wait by the timer of the one that a human ended", () => {
    const again = [...waiting, retryNow, failed(1, 1, "rate_limited", { retryAfterMs: 900_000 })]
    const { timers } = given(waiting.slice(0, -1)).when(waiting.at(-1) ?? assert.fail("nothing failed"))
    assert.deepStrictEqual(
      timers.map(({ command }) => command),
      [timer(1)]
    )
    given(again).when(timer(1)).then([])
    assert.deepStrictEqual(given(again).when(timer(2)).types, ["PromptRetried"])
    assert.deepStrictEqual(given(again).when(timer()).types, ["PromptRetried"], "set by an earlier version")
  })

  it.each([
    ["works", working],
    ["has gone on", [...waiting, timer()]],
    ["is over", firstTurn]
  ] as const)("refuses to try again when the turn %s", (_name, history) => {
    const { outcome } = given(history).when(retryNow)
    assert.ok(Result.isFailure(outcome))
    assert.strictEqual(outcome.failure.code, "not-waiting")
  })

  it("says when its vendor wants to be asked again, where it may not wait that long", () => {
    const outcome = given(working).when(failed(1, 1, "rate_limited", { retryAfterMs: 7_200_000 }))
    assert.deepInclude(outcome.event("TurnFailed"), { kind: "rate_limited", retryAt: at(7_260) })
    assert.notProperty(outcome.event("AgentFailed"), "until")
  })
})
