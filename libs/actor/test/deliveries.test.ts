/** What the runtime holds while inputs are handled: their deliveries, and the lanes that keep them in order. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, type Duration, Effect, Scope } from "effect"
import { TestClock } from "effect/testing"
import type { Delivered } from "../src/broker/Broker.ts"
import { makeDeliveries } from "../src/runtime/Deliveries.ts"
import { makeLanes } from "../src/runtime/Lanes.ts"

describe("deliveries under way", () => {
  const delivery = (count: number, log: Array<string>): Delivered => ({
    subject: "t.command.gate.a",
    sequence: 1,
    header: () => "",
    body: Effect.succeed(""),
    deliveryCount: count,
    ack: () => log.push(`ack ${count}`),
    nak: () => log.push(`nak ${count}`),
    working: () => log.push(`working ${count}`)
  })

  it.effect("of one message are one, and the newest is held and settled", () =>
    Effect.gen(function* () {
      const log: Array<string> = []
      const deliveries = yield* makeDeliveries({ heartbeatMs: 100 })
      const [first, second] = [delivery(1, log), delivery(2, log)]
      assert.deepStrictEqual([deliveries.begin(first), deliveries.begin(second)], [true, false])
      yield* TestClock.adjust("100 millis")
      deliveries.ack(first)
      yield* TestClock.adjust("100 millis")
      assert.deepStrictEqual(log, ["working 2", "ack 2"])
      assert.isTrue(deliveries.begin(second))
      deliveries.nak(second, 5)
      assert.deepStrictEqual(log, ["working 2", "ack 2", "nak 2"])
    })
  )

  it.effect("get heartbeats whenever there are some, and nothing wakes up while there are none", () =>
    Effect.gen(function* () {
      const log: Array<string> = []
      const clock = yield* Clock.Clock
      let sleeps = 0
      const counting = {
        ...clock,
        sleep: (duration: Duration.Duration) =>
          Effect.suspend(() => {
            sleeps += 1
            return clock.sleep(duration)
          })
      }
      const deliveries = yield* makeDeliveries({ heartbeatMs: 100 }).pipe(Effect.provideService(Clock.Clock, counting))
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(sleeps, 0)
      for (const count of [1, 2]) {
        deliveries.begin(delivery(count, log))
        yield* TestClock.adjust("200 millis")
        deliveries.ack(delivery(count, log))
        yield* TestClock.adjust("1 hour")
      }
      assert.deepStrictEqual(log, ["working 1", "working 1", "ack 1", "working 2", "working 2", "ack 2"])
      assert.strictEqual(sleeps, 6)
    })
  )

  it.effect("go back at once when the process stops", () =>
    Effect.gen(function* () {
      const log: Array<string> = []
      yield* Effect.gen(function* () {
        const deliveries = yield* makeDeliveries({ heartbeatMs: 100 })
        deliveries.begin(delivery(1, log))
      }).pipe(Effect.scoped)
      assert.deepStrictEqual(log, ["nak 1"])
    })
  )
})

describe("a lane", () => {
  it.effect("lets the job under way finish when its scope closes", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const lanes = yield* makeLanes().pipe(Scope.provide(scope))
      let done = false
      lanes.push(
        "a",
        Effect.delay(
          Effect.sync(() => (done = true)),
          "500 millis"
        )
      )
      const closing = yield* Effect.forkChild(Scope.close(scope, yield* Effect.exit(Effect.void)))
      yield* TestClock.adjust("600 millis")
      assert.isTrue(done)
      yield* Effect.sync(() => closing.pollUnsafe())
    })
  )
})
