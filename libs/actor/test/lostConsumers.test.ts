/** The broker has forgotten what a service had handled: a consumer that is made again delivers every message again. */
import { assert, describe, it } from "@effect/vitest"
import { anyHost, subjects } from "@reprise/protocol"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import type { BrokerShape } from "../src/broker/Broker.ts"
import { actorLayer, Broker, drain } from "../src/index.ts"
import { counter, counterLayer, toCounter } from "./support/Counter.ts"
import { makeStop, misbehaving, type Stop, stopsBeforePublishing } from "./support/misbehave.ts"
import { eventsSoFar, journalOf, send } from "./support/observe.ts"
import { memoryWorld, type Process, waitUntil } from "./support/systems.ts"

const s = subjects("t")
const count = actorLayer(counter)

/** A process that asks for consumers of other names: the broker knows nothing of what was delivered before. */
const newConsumers = (broker: BrokerShape): Partial<BrokerShape> => ({
  consume: (spec, take) => broker.consume({ ...spec, durable: `${spec.durable}-again` }, take)
})
const withNewConsumers = misbehaving(count, newConsumers)

const inputs = [
  ["one", toCounter("a").Add({ n: 1 })],
  ["two", toCounter("a").AskForWork({ name: "x" })],
  ["three", toCounter("a").AddAndTell({ n: 2, other: "b" })],
  ["four", toCounter("a").AddLater({ n: 3, dueAt: "2030-01-01T00:00:00.000Z" })]
] as const
const sendInputs = Effect.forEach(inputs, ([id, command]) => send(command, id), { discard: true })

/** The ids of everything that was sent in the name of the counter. */
const sent = Effect.fnUntraced(function* (process: Process) {
  const broker = yield* Effect.provide(Broker, process)
  const all = yield* Effect.all([
    broker.read("events", s.events("gate", "*"), 0),
    broker.read("commands", s.command("gate", "b"), 0),
    broker.read("work", s.works("gate", anyHost), 0),
    broker.read("timers", s.timer("gate", "a"), 0)
  ])
  return all.flat().map(({ header }) => header("ce-id"))
})

describe("messages that are all delivered again, after the streams have forgotten their ids", () => {
  for (const minutes of [11, 90]) {
    it.effect(`are not decided again, and nothing is sent a second time after ${minutes} minutes`, () =>
      Effect.gen(function* () {
        const world = yield* memoryWorld()
        const observer = yield* world.start()
        yield* Effect.gen(function* () {
          const one = yield* world.start(count)
          yield* Effect.andThen(sendInputs, drain).pipe(Effect.provide(one))
        }).pipe(Effect.scoped)
        const before = yield* sent(observer)
        assert.lengthOf(before, 6)
        yield* TestClock.adjust(`${minutes} minutes`)
        const two = yield* world.start(withNewConsumers)
        yield* drain.pipe(Effect.provide(two))
        assert.deepStrictEqual(yield* sent(observer), before)
        assert.lengthOf(yield* journalOf("a").pipe(Effect.provide(two)), 4)
      })
    )
  }

  it.effect("are compared with what the streams have, of which each message is read once", () =>
    Effect.gen(function* () {
      const world = yield* memoryWorld()
      const ids = Array.from({ length: 20 }, (_, n) => `ask-${n}`)
      yield* Effect.gen(function* () {
        const one = yield* world.start(count)
        const asked = Effect.forEach(ids, (id) => send(toCounter("a").AskForWork({ name: id }), id))
        yield* Effect.andThen(asked, drain).pipe(Effect.provide(one))
      }).pipe(Effect.scoped)
      yield* TestClock.adjust("60 minutes")
      let read = 0
      const watched = misbehaving(count, (broker) => ({
        ...newConsumers(broker),
        read: (stream, subject, after) =>
          Effect.tap(broker.read(stream, subject, after), ({ length }) =>
            Effect.sync(() => {
              if (stream === "work") read += length
            })
          )
      }))
      const two = yield* world.start(watched)
      yield* drain.pipe(Effect.provide(two))
      assert.strictEqual(read, ids.length)
    })
  )

  it.effect("lead to what their process did not send before it died", () =>
    Effect.gen(function* () {
      const world = yield* memoryWorld()
      const observer = yield* world.start()
      const stop: Stop = yield* makeStop
      yield* Effect.gen(function* () {
        const isWork = stopsBeforePublishing(stop, ({ meta }) => meta.type === "Dig")
        const one = yield* world.start(misbehaving(count, isWork))
        yield* sendInputs.pipe(Effect.provide(one))
        yield* stop.reached
      }).pipe(Effect.scoped)
      yield* TestClock.adjust("60 minutes")
      const two = yield* world.start(withNewConsumers)
      yield* waitUntil(Effect.map(sent(observer), ({ length }) => length >= 6)).pipe(Effect.provide(two))
      const ids = yield* sent(observer)
      assert.strictEqual(new Set(ids).size, 6)
    })
  )
})

describe("refused commands that are all delivered again", () => {
  it.effect("stay refused, though the actor would accept them now", () =>
    Effect.gen(function* () {
      const world = yield* memoryWorld()
      yield* Effect.gen(function* () {
        const one = yield* world.start(count)
        const refused = Effect.forEach(["one", "two"], (id) => send(toCounter("a").Forbidden(), id))
        yield* Effect.andThen(refused, drain).pipe(Effect.provide(one))
      }).pipe(Effect.scoped)
      yield* TestClock.adjust("11 minutes")
      const lenient = counterLayer({ decide: (state, _input, d) => counter.decide(state, { _tag: "Add", n: 1 }, d) })
      const two = yield* world.start(misbehaving(lenient, newConsumers))
      yield* Effect.gen(function* () {
        yield* drain
        assert.deepStrictEqual(yield* journalOf("a"), [])
        assert.lengthOf(yield* eventsSoFar(["CommandRefused"]), 2)
      }).pipe(Effect.provide(two))
    })
  )
})
