import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { actorLayer, drain } from "../src/index.ts"
import { counter } from "./support/Counter.ts"
import { misbehaving } from "./support/misbehave.ts"
import { sendAll, show } from "./support/observe.ts"
import { memoryWorld } from "./support/systems.ts"

describe("an actor that nobody needs", () => {
  it.effect("leaves the memory, and comes back from its snapshot and the journal's tail", () =>
    Effect.gen(function* () {
      const world = yield* memoryWorld({ idleAfterMs: 60_000, snapshotEvery: 4, heartbeatMs: 30_000 })
      const reads: Array<number> = []
      const one = yield* world.start(
        misbehaving(actorLayer(counter), (broker) => ({
          read: (...args) => Effect.tap(broker.read(...args), (found) => Effect.sync(() => reads.push(found.length)))
        }))
      )
      yield* Effect.gen(function* () {
        yield* sendAll("a", [1, 2, 3, 4, 5, 6])
        yield* drain
        reads.length = 0
        yield* TestClock.adjust("2 minutes")
        yield* sendAll("a", [7])
        yield* drain
        assert.deepStrictEqual(reads, [2])
        assert.deepStrictEqual(yield* show("a"), { total: 28, steps: 7 })
      }).pipe(Effect.provide(one))
    })
  )
})
