/** What a service needs on its host: when it counts as there, and what it waits for meanwhile. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, SubscriptionRef } from "effect"
import { TestClock } from "effect/testing"
import { isMetAfter, missedAfter, watchNeed } from "../src/health/HostNeed.ts"
import { type Stage, waitsForIn } from "../src/health/Readiness.ts"
import { noteLog } from "./support/noteLog.ts"

const agent = "an agent that answers at http://127.0.0.1:4096"

describe("what is needed on a host", () => {
  it.each([
    ["is there when it was seen once", 3, [true], true],
    ["is not there before it was seen", 3, [false], false],
    ["is there while it is missed twice in a row", 0, [false, false], true],
    ["is gone when it is missed three times in a row", 0, [false, false, false], false],
    ["is there when it is seen between misses", 0, [false, false, true, false, false], true],
    ["is back when it is seen once, however long it was gone", 0, [...Array(9).fill(false), true], true]
  ])("%s", (_, before, looks: ReadonlyArray<boolean>, expected) => {
    assert.strictEqual(isMetAfter(looks.reduce(missedAfter, before)), expected)
  })

  it.effect("is looked at before anything begins, every two seconds, and what changes is logged", () => {
    const lines: Array<string> = []
    return Effect.gen(function* () {
      const answers = { isThere: false }
      const met = yield* watchNeed({ what: agent, look: Effect.sync(() => answers.isThere) })
      const isMet = () => SubscriptionRef.getUnsafe(met)
      assert.isFalse(isMet())
      yield* TestClock.adjust("1 minute")
      answers.isThere = true
      yield* TestClock.adjust("2 seconds")
      assert.isTrue(isMet())
      answers.isThere = false
      yield* TestClock.adjust("4 seconds")
      assert.isTrue(isMet())
      yield* TestClock.adjust("2 seconds")
      assert.isFalse(isMet())
      assert.deepStrictEqual(lines, [`There is ${agent}.`, `Waiting for ${agent}. Until then no new work is taken.`])
    }).pipe(Effect.scoped, Effect.provide(noteLog(lines)))
  })
})

describe("a service waits for", () => {
  const nats = "a NATS server that answers"
  it.each<readonly [Stage, Parameters<typeof waitsForIn>[0]["connection"], string | undefined, string | undefined]>([
    ["connecting", undefined, agent, nats],
    ["preparing", "connected", agent, "the streams on the NATS server"],
    ["ready", "connected", undefined, undefined],
    ["ready", "connected", agent, agent],
    ["ready", "disconnected", agent, "its connection to the NATS server, which is lost"],
    ["stopping", "connected", agent, "its end: it takes no more work"]
  ])("what comes first: %s, %s, %s: %s", (stage, connection, unmet, expected) => {
    assert.strictEqual(waitsForIn({ stage, connection, unmet }), expected)
  })
})
