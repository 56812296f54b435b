/** An input is decided once and what it leads to is sent, whenever the process dies: each test states the moment. */
import { assert, describe } from "@effect/vitest"
import { Context, Effect } from "effect"
import { actorLayer, drain, Messenger } from "../../src/index.ts"
import { counter, counterLayer, toCounter } from "./Counter.ts"
import {
  losesAcknowledgements,
  makeGate,
  makeStop,
  misbehaving,
  stopsBeforeAppending,
  stopsBeforePublishing
} from "./misbehave.ts"
import { eventsSoFar, journalOf, send, sendAll, show } from "./observe.ts"
import { type Stage, waitUntil } from "./systems.ts"

const count = actorLayer(counter)

/** `racingCommands`: how many commands for each of three actors two processes race for. */
export const durabilitySuite = (
  name: string,
  { open, racingCommands, test }: Stage & { readonly racingCommands: number }
) =>
  describe(name, () => {
    test("decides a command once and sends what it leads to, with ids from the journal", () =>
      Effect.gen(function* () {
        const world = yield* open()
        const one = yield* world.start(count)
        yield* Effect.gen(function* () {
          const messenger = yield* Messenger
          yield* messenger.send(toCounter("a").AddAndTell({ n: 2, other: "b" }), { id: "first", subject: "r1" })
          yield* drain
          const [entry] = yield* journalOf("a")
          assert.deepStrictEqual(entry?.input, { id: "first", type: "AddAndTell" })
          const [event, ...others] = yield* eventsSoFar(["StepStarted"]).pipe(
            Effect.map((all) => all.filter(({ meta }) => meta.causation === "first"))
          )
          assert.strictEqual(others.length, 0)
          assert.strictEqual(event?.meta.id, `escalation.a.${entry?.sequence}.0`)
          assert.deepStrictEqual(
            [event?.meta.source, event?.meta.subject, event?.meta.time],
            ["/gate/local", "r1", entry?.at]
          )
          const [told] = yield* journalOf("b")
          assert.strictEqual(told?.input.id, `escalation.a.${entry?.sequence}.1`)
          assert.strictEqual(told?.traceparent.slice(3, 35), event?.meta.traceparent?.slice(3, 35))
          assert.deepStrictEqual(
            [yield* show("a"), yield* show("b")],
            [
              { total: 2, steps: 1 },
              { total: 2, steps: 1 }
            ]
          )
        }).pipe(Effect.provide(one))
      }).pipe(Effect.scoped))

    test("killed before the append: another process decides, once", () =>
      Effect.gen(function* () {
        const world = yield* open()
        const watching = yield* world.start()
        yield* Effect.gen(function* () {
          const stop = yield* makeStop
          yield* world.start(misbehaving(count, stopsBeforeAppending(stop)))
          yield* sendAll("a", [1]).pipe(Effect.provide(watching))
          yield* stop.reached
        }).pipe(Effect.scoped)
        assert.deepStrictEqual(yield* journalOf("a").pipe(Effect.provide(watching)), [])
        const two = yield* world.start(count)
        yield* Effect.gen(function* () {
          yield* drain
          assert.strictEqual((yield* journalOf("a")).length, 1)
          assert.strictEqual((yield* eventsSoFar(["StepStarted"])).length, 1)
        }).pipe(Effect.provide(two))
      }).pipe(Effect.scoped))

    test("killed after the append and before sending: another process sends what was decided, and decides nothing", () =>
      Effect.gen(function* () {
        const world = yield* open()
        const watching = yield* world.start()
        yield* Effect.gen(function* () {
          const stop = yield* makeStop
          const sendsNothing = stopsBeforePublishing(stop, ({ meta }) => meta.type === "StepStarted")
          yield* world.start(misbehaving(count, sendsNothing))
          yield* sendAll("a", [1]).pipe(Effect.provide(watching))
          yield* stop.reached
        }).pipe(Effect.scoped)
        assert.deepStrictEqual(yield* eventsSoFar(["StepStarted"]).pipe(Effect.provide(watching)), [])
        const two = yield* world.start(count)
        yield* Effect.gen(function* () {
          yield* drain
          const [entry, ...others] = yield* journalOf("a")
          assert.strictEqual(others.length, 0)
          const events = yield* eventsSoFar(["StepStarted"])
          assert.deepStrictEqual(
            events.map(({ meta }) => [meta.id, meta.time]),
            [[`escalation.a.${entry?.sequence}.0`, entry?.at]]
          )
        }).pipe(Effect.provide(two))
      }).pipe(Effect.scoped))

    test("killed after the append, and the next command comes first: what was decided before is sent before", () =>
      Effect.gen(function* () {
        const world = yield* open()
        const watching = yield* world.start()
        yield* Effect.gen(function* () {
          const stop = yield* makeStop
          const sendsNothing = stopsBeforePublishing(stop, ({ meta }) => meta.causation === "a-1")
          yield* world.start(misbehaving(count, sendsNothing))
          yield* sendAll("a", [1, 2]).pipe(Effect.provide(watching))
          yield* stop.reached
        }).pipe(Effect.scoped)
        const two = yield* world.start(count)
        yield* Effect.gen(function* () {
          yield* drain
          const events = yield* eventsSoFar(["StepStarted"])
          assert.deepStrictEqual(
            events.map(({ meta }) => meta.causation),
            ["a-1", "a-2"]
          )
        }).pipe(Effect.provide(two))
      }).pipe(Effect.scoped))

    test("killed after the append: a process that had the actor in memory all along sends what was decided", () =>
      Effect.gen(function* () {
        const world = yield* open()
        const { gate, how } = makeGate()
        const warm = yield* world.start(misbehaving(count, how))
        yield* sendAll("a", [1]).pipe(Effect.andThen(drain), Effect.provide(warm))
        gate.open = false
        yield* Effect.gen(function* () {
          const stop = yield* makeStop
          const sendsNothing = stopsBeforePublishing(stop, ({ meta }) => meta.causation === "a-2")
          yield* world.start(misbehaving(count, sendsNothing))
          yield* sendAll("a", [2]).pipe(Effect.provide(warm))
          yield* stop.reached
        }).pipe(Effect.scoped)
        gate.open = true
        yield* Effect.gen(function* () {
          yield* drain
          assert.strictEqual((yield* journalOf("a")).length, 2)
          const events = yield* eventsSoFar(["StepStarted"])
          assert.deepStrictEqual(
            events.map(({ meta }) => meta.causation),
            ["a-1", "a-2"]
          )
        }).pipe(Effect.provide(warm))
      }).pipe(Effect.scoped))

    test("does not refuse on an old state when another process has moved the actor on", () =>
      Effect.gen(function* () {
        const world = yield* open()
        const strict = counterLayer({
          decide: (state, input, delivery) =>
            input._tag === "Forbidden" && state.total > 0
              ? counter.decide(state, { _tag: "Add", n: 10 }, delivery)
              : counter.decide(state, input, delivery)
        })
        const { gate, how } = makeGate()
        const behind = yield* world.start(misbehaving(strict, how))
        const messenger = Context.get(behind, Messenger)
        yield* messenger.send(toCounter("a").Ignored())
        yield* drain.pipe(Effect.provide(behind))
        gate.open = false
        yield* Effect.gen(function* () {
          const ahead = yield* world.start(strict)
          yield* sendAll("a", [1]).pipe(Effect.andThen(drain), Effect.provide(ahead))
        }).pipe(Effect.scoped)
        gate.open = true
        yield* messenger.send(toCounter("a").Forbidden())
        yield* Effect.gen(function* () {
          yield* drain
          assert.deepStrictEqual(yield* eventsSoFar(["CommandRefused"]), [])
          assert.deepStrictEqual(yield* show("a"), { total: 11, steps: 2 })
        }).pipe(Effect.provide(behind))
      }).pipe(Effect.scoped))

    test("killed before the acknowledgement: the command is delivered again and recognised", () =>
      Effect.gen(function* () {
        const world = yield* open()
        const watching = yield* world.start()
        yield* Effect.gen(function* () {
          yield* world.start(misbehaving(count, losesAcknowledgements))
          yield* sendAll("a", [1, 2, 3]).pipe(Effect.provide(watching))
          yield* waitUntil(Effect.map(journalOf("a"), (journal) => journal.length === 3)).pipe(Effect.provide(watching))
        }).pipe(Effect.scoped)
        const two = yield* world.start(count)
        yield* Effect.gen(function* () {
          yield* drain
          assert.deepStrictEqual(
            (yield* journalOf("a")).map(({ input }) => input.id),
            ["a-1", "a-2", "a-3"]
          )
          assert.strictEqual((yield* eventsSoFar(["StepStarted"])).length, 3)
        }).pipe(Effect.provide(two))
      }).pipe(Effect.scoped))

    test("recognises a command that a snapshot covers", () =>
      Effect.gen(function* () {
        const world = yield* open({ snapshotEvery: 2 })
        const watching = yield* world.start()
        yield* Effect.gen(function* () {
          yield* world.start(misbehaving(count, losesAcknowledgements))
          yield* sendAll("a", [1, 2, 3, 4, 5]).pipe(Effect.provide(watching))
          yield* waitUntil(Effect.map(journalOf("a"), (journal) => journal.length === 5)).pipe(Effect.provide(watching))
        }).pipe(Effect.scoped)
        const two = yield* world.start(count)
        yield* Effect.gen(function* () {
          yield* drain
          assert.strictEqual((yield* journalOf("a")).length, 5)
          assert.deepStrictEqual(yield* show("a"), { total: 15, steps: 5 })
        }).pipe(Effect.provide(two))
      }).pipe(Effect.scoped))

    test("refused, and the acknowledgement is lost: another process that would accept the command does not", () =>
      Effect.gen(function* () {
        const world = yield* open()
        const watching = yield* world.start()
        yield* Effect.gen(function* () {
          yield* world.start(misbehaving(count, losesAcknowledgements))
          for (const id of ["first", "second"]) yield* send(toCounter("a").Forbidden(), id)
          yield* waitUntil(Effect.map(eventsSoFar(["CommandRefused"]), ({ length }) => length === 2))
        }).pipe(Effect.provide(watching), Effect.scoped)
        const lenient = counterLayer({ decide: (state, _input, d) => counter.decide(state, { _tag: "Add", n: 1 }, d) })
        const two = yield* world.start(lenient)
        yield* Effect.gen(function* () {
          yield* drain
          assert.deepStrictEqual(yield* journalOf("a"), [])
          assert.lengthOf(yield* eventsSoFar(["CommandRefused"]), 2)
        }).pipe(Effect.provide(two))
      }).pipe(Effect.scoped))

    test("recognises a command whose receipt is forgotten", () =>
      Effect.gen(function* () {
        const world = yield* open({ receiptsKept: 2 })
        const watching = yield* world.start()
        yield* Effect.gen(function* () {
          yield* world.start(misbehaving(count, losesAcknowledgements))
          yield* sendAll("a", [1, 2, 3, 4, 5, 6]).pipe(Effect.provide(watching))
          yield* waitUntil(Effect.map(journalOf("a"), ({ length }) => length === 6)).pipe(Effect.provide(watching))
        }).pipe(Effect.scoped)
        const two = yield* world.start(count)
        yield* Effect.gen(function* () {
          yield* drain
          assert.deepStrictEqual(yield* show("a"), { total: 21, steps: 6 })
          assert.lengthOf(yield* eventsSoFar(["StepStarted"]), 6)
        }).pipe(Effect.provide(two))
      }).pipe(Effect.scoped))

    test(`two processes race for the same actors with ${3 * racingCommands} commands: one history, no step lost or doubled`, () =>
      Effect.gen(function* () {
        const world = yield* open()
        const one = yield* world.start(count)
        const two = yield* world.start(count)
        const keys = ["a", "b", "c"]
        const numbers = Array.from({ length: racingCommands }, (_, n) => n)
        yield* Effect.forEach(keys, (key, n) => sendAll(key, numbers).pipe(Effect.provide(n % 2 === 0 ? one : two)), {
          concurrency: "unbounded"
        })

        yield* Effect.gen(function* () {
          yield* drain
          for (const key of keys) {
            const journal = yield* journalOf(key)
            assert.deepStrictEqual(
              journal.map(({ input }) => input.id).sort(),
              numbers.map((n) => `${key}-${n}`).sort()
            )
            assert.deepStrictEqual(yield* show(key), {
              total: (racingCommands * (racingCommands - 1)) / 2,
              steps: racingCommands
            })
          }
          const events = yield* eventsSoFar(["StepStarted"])
          assert.strictEqual(new Set(events.map(({ meta }) => meta.id)).size, 3 * racingCommands)
          assert.strictEqual(events.length, 3 * racingCommands)
        }).pipe(Effect.provide(two))
      }).pipe(Effect.scoped))

    test("a lost race is decided again on the winner's state", () =>
      Effect.gen(function* () {
        const world = yield* open()
        const one = yield* world.start(count)
        yield* sendAll("a", [1]).pipe(Effect.andThen(drain), Effect.provide(one))
        // The second process has the actor in memory, the first one then writes, the second decides on an old state.
        yield* Effect.gen(function* () {
          const two = yield* world.start(count)
          yield* sendAll(
            "a",
            Array.from({ length: 60 }, (_, n) => n + 2)
          ).pipe(Effect.andThen(drain), Effect.provide(two))
          const attempts = yield* eventsSoFar(["StepStarted"]).pipe(Effect.provide(two))
          const totals = attempts.map(({ event }) => (event._tag === "StepStarted" ? event.attempt : -1))
          const journal = yield* journalOf("a").pipe(Effect.provide(two))
          let sum = 0
          const sums = journal.map(({ input }) => {
            sum += Number(input.id.slice(2))
            return sum
          })
          assert.deepStrictEqual(
            [...totals].sort((x, y) => x - y),
            sums
          )
        }).pipe(Effect.scoped)
      }).pipe(Effect.scoped))
  })
