/** What the runtime must not do when processes race, a broker answers late, or a process dies between two steps. */
import { assert, describe, it } from "@effect/vitest"
import { encodeMeta, RunId, subjects } from "@reprise/protocol"
import { Effect, Latch } from "effect"
import { TestClock } from "effect/testing"
import type { Message } from "../src/broker/Broker.ts"
import { Conflict } from "../src/broker/faults.ts"
import { actorLayer, Broker, drain } from "../src/index.ts"
import { counter, counterLayer, toCounter } from "./support/Counter.ts"
import { misbehaving } from "./support/misbehave.ts"
import { deadLettersOf, eventsSoFar, journalOf, send, sendAll, show } from "./support/observe.ts"
import { memoryWorld, waitUntil } from "./support/systems.ts"

const s = subjects("t")
const count = actorLayer(counter)
const journal = s.journal("escalation", "a")

describe("two attempts to write one decision", () => {
  it.effect("have ids of their own, so that the loser is not told that it wrote", () =>
    Effect.gen(function* () {
      const world = yield* memoryWorld()
      const ids: Array<string> = []
      /** The first write is stored, and answered as a lost race: as if a replica with the same input had been first. */
      const overtaken = misbehaving(count, (broker) => ({
        append: (message, expected) => {
          ids.push(message.meta.id)
          if (ids.length > 1) return broker.append(message, expected)
          const others = { ...message, meta: { ...message.meta, id: `${message.meta.id}-of-another` } }
          return Effect.flatMap(broker.append(others, expected), () => new Conflict({ subject: journal, expected }))
        }
      }))
      const one = yield* world.start(overtaken)
      yield* Effect.gen(function* () {
        yield* sendAll("a", [1, 2])
        yield* drain
        assert.strictEqual(new Set(ids).size, ids.length)
        assert.lengthOf(yield* journalOf("a"), 2)
      }).pipe(Effect.provide(one))
    })
  )

  it.effect("have different ids in two processes that decide the same command at the same time", () =>
    Effect.gen(function* () {
      const world = yield* memoryWorld()
      const ids: Array<string> = []
      const watched = misbehaving(count, (broker) => ({
        append: (message, expected) => {
          ids.push(message.meta.id)
          return broker.append(message, expected)
        }
      }))
      for (const key of ["a", "b"]) {
        yield* Effect.gen(function* () {
          const one = yield* world.start(watched)
          yield* send(toCounter(key).Add({ n: 1 })).pipe(Effect.andThen(drain), Effect.provide(one))
        }).pipe(Effect.scoped)
      }
      assert.strictEqual(new Set(ids.map((id) => id.split(".").slice(2).join("."))).size, 2)
    })
  )
})

describe("a command that keeps losing races", () => {
  it.effect("is handed back again and again, is decided in the end, and never becomes a dead letter", () =>
    Effect.gen(function* () {
      const world = yield* memoryWorld({ maxDeliveries: 2, conflictRetries: 1 })
      let lost = 0
      let deliveries = 0
      const slow = misbehaving(count, (broker) => ({
        consume: (spec, take) =>
          broker.consume(spec, (delivery) => {
            if (spec.stream === "commands") deliveries += 1
            take(delivery)
          }),
        append: (message, expected) => {
          lost += 1
          return lost <= 12 ? new Conflict({ subject: journal, expected }) : broker.append(message, expected)
        }
      }))
      const one = yield* world.start(slow)
      yield* Effect.gen(function* () {
        yield* sendAll("a", [1])
        yield* drain
        assert.deepStrictEqual(yield* deadLettersOf("a"), [])
        assert.deepStrictEqual(yield* show("a"), { total: 1, steps: 1 })
        // Two attempts for each delivery: the first and one more after the conflict.
        assert.deepStrictEqual([lost, deliveries], [13, 7])
      }).pipe(Effect.provide(one))
    })
  )
})

describe("many refused commands", () => {
  const commands = (types: ReadonlyArray<string>) =>
    Broker.use((broker) =>
      broker.publish(
        types.map((type, n) => ({
          subject: s.command("gate", "a"),
          body: '{"n":1}',
          meta: { id: `c-${n}`, type, source: "/test", subject: "r1", time: "2026-01-01T00:00:00.000Z" }
        }))
      )
    )
  const isRefusal = (messages: ReadonlyArray<Message>) => messages.some(({ meta }) => meta.type === "CommandRefused")

  it.effect("share one read of the journal, and none waits for the answer to another", () =>
    Effect.gen(function* () {
      const world = yield* memoryWorld()
      const [many, together] = [20, Latch.makeUnsafe()]
      let [looks, underWay] = [0, 0]
      const one = yield* world.start(
        misbehaving(count, (broker) => ({
          last: (stream, subject) => {
            if (stream === "journal") looks += 1
            return Effect.delay(broker.last(stream, subject), "10 millis")
          },
          publish: (messages) => {
            if (!isRefusal(messages)) return broker.publish(messages)
            underWay += 1
            if (underWay === many) together.openUnsafe()
            return Effect.andThen(together.await, broker.publish(messages))
          }
        }))
      )
      yield* Effect.gen(function* () {
        yield* sendAll("a", [1])
        yield* drain
        yield* commands(Array.from({ length: many }, () => "Forbidden"))
        yield* drain
        assert.lengthOf(yield* eventsSoFar(["CommandRefused"]), many)
        // The first looks alone, the second for all that arrived meanwhile.
        assert.strictEqual(looks, 2)
      }).pipe(Effect.provide(one))
    })
  )

  it.effect.each(["Forbidden", "Unheard"])("(%s) are answered before a later one is decided", (type) =>
    Effect.gen(function* () {
      const world = yield* memoryWorld()
      const log: Array<string> = []
      const one = yield* world.start(
        misbehaving(count, (broker) => ({
          append: (message, expected) => {
            log.push("decided")
            return broker.append(message, expected)
          },
          publish: (messages) =>
            isRefusal(messages)
              ? Effect.andThen(Effect.sleep("1 second"), broker.publish(messages)).pipe(
                  Effect.tap(Effect.sync(() => log.push("answered")))
                )
              : broker.publish(messages)
        }))
      )
      yield* commands([type, type, "Add"]).pipe(Effect.andThen(drain), Effect.provide(one))
      assert.deepStrictEqual(log, ["answered", "answered", "decided"])
    })
  )
})

describe("a refused command", () => {
  it.effect("that is delivered again to the same process is refused once, though others were refused since", () =>
    Effect.gen(function* () {
      const world = yield* memoryWorld()
      let decisions = 0
      const counting = counterLayer({
        decide: (state, input, delivery) => {
          decisions += 1
          return counter.decide(state, input, delivery)
        }
      })
      const acks: Array<string> = []
      /** Each command's first acknowledgement is lost. */
      const forgetful = misbehaving(counting, (broker) => ({
        consume: (spec, take) =>
          broker.consume(spec, (delivery) =>
            take({
              ...delivery,
              ack: () => {
                acks.push(delivery.header("ce-id"))
                if (delivery.deliveryCount > 1) delivery.ack()
              }
            })
          )
      }))
      const one = yield* world.start(forgetful)
      yield* Effect.gen(function* () {
        yield* send(toCounter("a").Forbidden(), "first")
        yield* send(toCounter("a").Forbidden(), "second")
        yield* drain
        assert.deepStrictEqual([...acks].sort(), ["first", "first", "second", "second"])
        assert.strictEqual(decisions, 2)
        assert.lengthOf(yield* eventsSoFar(["CommandRefused"]), 2)
      }).pipe(Effect.provide(one))
    })
  )
})

describe("answers to earlier inputs", () => {
  it.effect("are looked up for messages that are delivered again, once, and for no others", () =>
    Effect.gen(function* () {
      const world = yield* memoryWorld()
      const answersRead: Array<number> = []
      const watched = misbehaving(counterLayer({ runOf: () => RunId.make("r1") }), (broker) => ({
        // Every acknowledgement of a first delivery is lost, and what is handled is forgotten.
        consume: (spec, take) =>
          broker.consume(spec, (delivery) =>
            take({ ...delivery, ack: () => (delivery.deliveryCount > 1 ? delivery.ack() : undefined) })
          ),
        read: (stream, subject, after) =>
          broker
            .read(stream, subject, after)
            .pipe(
              Effect.tap((found) => Effect.sync(() => void (stream === "events" && answersRead.push(found.length))))
            )
      }))
      yield* Effect.gen(function* () {
        const one = yield* world.start(watched)
        yield* Effect.gen(function* () {
          for (const id of ["1", "2", "3"]) yield* send(toCounter("a").Forbidden(), id)
          yield* waitUntil(Effect.map(eventsSoFar(["CommandRefused"]), (seen) => seen.length === 3))
        }).pipe(Effect.provide(one))
        assert.deepStrictEqual(answersRead, [])
      }).pipe(Effect.scoped)
      const two = yield* world.start(watched)
      yield* drain.pipe(Effect.provide(two))
      assert.deepStrictEqual(answersRead, [3, 0, 0])
    })
  )
})

describe("a timer", () => {
  /** Stores a timer due in `dueInMs`, and gives what arrived for the actor so far. */
  const storeTimer = (dueAtMs: number) =>
    Broker.use((broker) =>
      broker.publish([
        {
          subject: s.timer("gate", "a"),
          body: `{"n":7}`,
          dueAt: new Date(dueAtMs).toISOString(),
          meta: { id: "timer-1", type: "Add", source: "/test", subject: "r1", time: new Date(0).toISOString() }
        }
      ])
    )

  it.effect.each([400, 900, 2_500])("that is due in %d ms is not early, and is delivered when it is due", (dueInMs) =>
    Effect.gen(function* () {
      const world = yield* memoryWorld()
      const decidedAt: Array<number> = []
      const acks: Array<string> = []
      const noting = counterLayer({
        decide: (state, input, delivery) => {
          decidedAt.push(Date.parse(delivery.now))
          return counter.decide(state, input, delivery)
        }
      })
      const one = yield* world.start(
        misbehaving(noting, (broker) => ({
          consume: (spec, take) =>
            broker.consume(spec, (delivery) =>
              take({
                ...delivery,
                ack: () => {
                  acks.push(spec.stream)
                  delivery.ack()
                }
              })
            )
        }))
      )
      yield* Effect.gen(function* () {
        yield* storeTimer(dueInMs)
        yield* waitUntil(Effect.map(journalOf("a"), (entries) => entries.length === 1))
        assert.isAtLeast(decidedAt[0] ?? 0, dueInMs)
        assert.isAtMost(decidedAt[0] ?? 0, dueInMs + 200)
        assert.deepStrictEqual(
          (yield* journalOf("a")).map(({ input }) => input.id),
          ["timer-1"]
        )
        yield* drain
        assert.sameMembers(acks, ["timers", "commands"])
        const command = yield* Broker.use((broker) => broker.last("commands", s.command("gate", "a")))
        assert.isAtLeast(Date.parse(command?.header("ce-time") ?? ""), dueInMs)
      }).pipe(Effect.provide(one))
    })
  )

  it.effect("that is due in days is handed back for an hour at a time", () =>
    Effect.gen(function* () {
      const world = yield* memoryWorld()
      const delays: Array<number | undefined> = []
      const one = yield* world.start(
        misbehaving(count, (broker) => ({
          consume: (spec, take) =>
            broker.consume(spec, (delivery) =>
              take({
                ...delivery,
                nak: (delayMs) => {
                  delays.push(delayMs)
                  delivery.nak(delayMs)
                }
              })
            )
        }))
      )
      yield* storeTimer(72 * 60 * 60_000).pipe(Effect.provide(one))
      yield* waitUntil(Effect.sync(() => delays.length > 0))
      assert.deepStrictEqual(delays, [60 * 60_000])
    })
  )

  it.effect("without a time becomes a dead letter", () =>
    Effect.gen(function* () {
      const world = yield* memoryWorld()
      const one = yield* world.start(count)
      yield* Effect.gen(function* () {
        const meta = { id: "timeless", type: "Add", source: "/test", subject: "r1", time: new Date(0).toISOString() }
        assert.property(encodeMeta(meta), "ce-id")
        yield* Broker.use((broker) =>
          broker.publish([{ subject: s.timer("gate", "a"), body: `{"n":7}`, dueAt: "soon", meta }])
        )
        yield* waitUntil(Effect.map(deadLettersOf("a"), (found) => found.length === 1))
        assert.match((yield* deadLettersOf("a"))[0]?.reason ?? "", /reprise-due is not a time/)
        yield* TestClock.adjust("1 minute")
        assert.lengthOf(yield* deadLettersOf("a"), 1)
      }).pipe(Effect.provide(one))
    })
  )
})
