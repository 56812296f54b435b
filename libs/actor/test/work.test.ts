/** How a worker reports failures, gives up, and keeps unreadable or duplicate work out of its way. */
import { assert, describe, it } from "@effect/vitest"
import { anyHost, type Host, subjects } from "@reprise/protocol"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { actorLayer, Broker, drain, WorkFault, WorkPostponed, workerLayer } from "../src/index.ts"
import { CounterWork, counter, toCounter } from "./support/Counter.ts"
import { misbehaving } from "./support/misbehave.ts"
import { deadLettersOf, send } from "./support/observe.ts"
import { memoryWorld, waitUntil } from "./support/systems.ts"

const s = subjects("t")
const count = actorLayer(counter)

describe("a worker's work", () => {
  const askFor = (name: string) => send(toCounter("a").AskForWork({ name }))
  const failing = Effect.fail(new WorkFault({ operation: "dig", cause: "hard" }))
  const worker = { service: "gate", host: anyHost as Host, work: CounterWork } as const

  it.effect("whose failure could not be reported is tried again, and reported in the end", () =>
    Effect.gen(function* () {
      const world = yield* memoryWorld({ heartbeatMs: 30_000, ackWaitMs: 300_000 })
      let reports = 0
      const giveUp = () =>
        Effect.suspend(() => {
          reports += 1
          return reports === 1 ? Effect.fail("no broker") : Effect.void
        })
      const one = yield* world.start(count, workerLayer({ ...worker, attempts: 1, handle: () => failing, giveUp }))
      yield* Effect.gen(function* () {
        yield* askFor("x")
        yield* waitUntil(Effect.sync(() => reports === 1))
        assert.deepStrictEqual(yield* deadLettersOf("a"), [])
        yield* TestClock.adjust("61 seconds")
        yield* drain
        assert.strictEqual(reports, 2)
        assert.lengthOf(yield* deadLettersOf("a"), 1)
      }).pipe(Effect.provide(one))
    })
  )

  it.effect("that is postponed is delivered again after the pause, and that is not a failure", () =>
    Effect.gen(function* () {
      const world = yield* memoryWorld({ heartbeatMs: 30_000, ackWaitMs: 300_000 })
      const deliveries: Array<number> = []
      const handle = (_: unknown, { delivery }: { readonly delivery: number }) =>
        Effect.suspend(() => {
          deliveries.push(delivery)
          return delivery < 4 ? Effect.fail(new WorkPostponed({ reason: "busy", pauseMs: 10_000 })) : Effect.void
        })
      const one = yield* world.start(count, workerLayer({ ...worker, attempts: 1, handle }))
      yield* Effect.gen(function* () {
        yield* askFor("x")
        yield* waitUntil(Effect.sync(() => deliveries.length === 1))
        yield* TestClock.adjust("9 seconds")
        assert.deepStrictEqual(deliveries, [1])
        for (const expected of [2, 3, 4]) {
          yield* TestClock.adjust("10 seconds")
          yield* waitUntil(Effect.sync(() => deliveries.length === expected))
        }
        yield* drain
        assert.deepStrictEqual(yield* deadLettersOf("a"), [])
      }).pipe(Effect.provide(one))
    })
  )

  it.effect("that keeps killing its process is given up without another try", () =>
    Effect.gen(function* () {
      const world = yield* memoryWorld()
      let tries = 0
      const handle = () =>
        Effect.sync(() => {
          tries += 1
        })
      const one = yield* world.start(
        count,
        misbehaving(workerLayer({ ...worker, handle }), (broker) => ({
          pull: (specs, room, take) => broker.pull(specs, room, (delivery) => take({ ...delivery, deliveryCount: 101 }))
        }))
      )
      yield* Effect.gen(function* () {
        yield* askFor("x")
        yield* drain
        assert.strictEqual(tries, 0)
        assert.match((yield* deadLettersOf("a"))[0]?.reason ?? "", /delivered 101 times/)
      }).pipe(Effect.provide(one))
    })
  )

  it.effect("that cannot be read holds no slot, so that other work is done", () =>
    Effect.gen(function* () {
      const world = yield* memoryWorld()
      const done: Array<string> = []
      const handle = ({ name }: CounterWork) => Effect.sync(() => void done.push(name))
      const one = yield* world.start(workerLayer({ ...worker, concurrency: 2, handle }))
      yield* Effect.gen(function* () {
        const broker = yield* Broker
        const meta = { type: "Dig", source: "/test", subject: "r1", time: "2026-01-01T00:00:00.000Z" }
        const store = (id: string, body: string, key = "a", more: object = {}) =>
          broker.publish([{ subject: s.work("gate", anyHost, key), body, meta: { ...meta, id, ...more } }])
        for (const n of [1, 2, 3]) yield* store(`unreadable-${n}`, "{}", "b", { type: "not a type" })
        yield* store("same", `{"name":"x"}`)
        yield* drain
        assert.deepStrictEqual(done, ["x"])
        assert.lengthOf(yield* deadLettersOf("b"), 3)
      }).pipe(Effect.provide(one))
    })
  )

  it.effect("that was stored twice does not run twice at the same time", () =>
    Effect.gen(function* () {
      const world = yield* memoryWorld()
      let now = 0
      let most = 0
      let runs = 0
      const handle = () =>
        Effect.suspend(() => {
          runs += 1
          now += 1
          most = Math.max(most, now)
          return Effect.sleep("300 millis")
        }).pipe(Effect.ensuring(Effect.sync(() => (now -= 1))))
      /** The id is another in the stream, as after its window of duplicates, and the same in the envelope. */
      const twins = misbehaving(workerLayer({ ...worker, handle }), (broker) => ({
        pull: (specs, room, take) =>
          broker.pull(specs, room, (delivery) =>
            take({ ...delivery, header: (name: string) => (name === "ce-id" ? "same" : delivery.header(name)) })
          )
      }))
      const one = yield* world.start(count, twins)
      yield* Effect.gen(function* () {
        yield* askFor("x")
        yield* askFor("x")
        yield* drain
        assert.deepStrictEqual([most, runs], [1, 2])
      }).pipe(Effect.provide(one))
    })
  )
})
