/** What the runtime holds while inputs are handled: their deliveries, and the queues that keep them in order. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, type Duration, Effect, Exit, Fiber, Scope } from "effect"
import { TestClock } from "effect/testing"
import { type Delivered, Sequence } from "../src/broker/Broker.ts"
import { makeAnswers } from "../src/runtime/Answers.ts"
import { makeDeliveries } from "../src/runtime/Deliveries.ts"
import { makeKeyedQueues } from "../src/runtime/KeyedQueues.ts"

describe("deliveries under way", () => {
  const delivery = (count: number, log: Array<string>): Delivered => ({
    subject: "t.command.gate.a",
    sequence: Sequence(1),
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

describe("answers on their way", () => {
  it.effect("are waited for by their key alone, each time that there are some", () =>
    Effect.gen(function* () {
      const answers = yield* makeAnswers()
      for (const time of ["first", "second"]) {
        const open = yield* Deferred.make<void>()
        answers.give("a", Deferred.await(open))
        yield* answers.given("b")
        const given = yield* Effect.forkChild(answers.given("a"), { startImmediately: true })
        yield* TestClock.adjust("1 second")
        assert.isUndefined(given.pollUnsafe(), time)
        yield* Deferred.succeed(open, undefined)
        yield* Fiber.join(given)
      }
    })
  )

  it.effect("get a second to be stored when their scope closes", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const answers = yield* makeAnswers().pipe(Scope.provide(scope))
      const stored: Array<string> = []
      const store = (what: string, after: Duration.Input) =>
        Effect.delay(
          Effect.sync(() => stored.push(what)),
          after
        )
      answers.give("a", Effect.asVoid(store("soon", "900 millis")))
      answers.give("b", Effect.asVoid(store("late", "1100 millis")))
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(closing)
      assert.deepStrictEqual(stored, ["soon"])
    })
  )
})

describe("a queue", () => {
  it.effect("lets the job under way finish when its scope closes", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const queues = yield* makeKeyedQueues().pipe(Scope.provide(scope))
      let done = false
      queues.push(
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
