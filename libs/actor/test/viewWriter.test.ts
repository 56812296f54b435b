/** When views are stored: seldom, and in the end always. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Exit, Scope } from "effect"
import type { ActorSettings } from "../src/ActorConfig.ts"
import type { BrokerShape } from "../src/broker/Broker.ts"
import { BrokerFault, BrokerFull } from "../src/broker/faults.ts"
import { actorLayer, Broker, drain, Messenger } from "../src/index.ts"
import { readView } from "../src/runtime/views.ts"
import { counter } from "./support/Counter.ts"
import { makeStop, misbehaving, type Stop } from "./support/misbehave.ts"
import { journalOf, sendAll } from "./support/observe.ts"
import { memoryWorld, waitUntil } from "./support/systems.ts"

const count = actorLayer(counter)
const quick = [1, 2, 3, 4, 5]
const shownAfterAll = { total: 15, steps: 5, status: "much" }

/** Replaces `put` of the views; `nth` counts from 1. */
const puts =
  (put: (nth: number, go: ReturnType<BrokerShape["views"]["put"]>) => ReturnType<BrokerShape["views"]["put"]>) =>
  ({ views }: BrokerShape): Partial<BrokerShape> => {
    let nth = 0
    return {
      views: {
        ...views,
        put: (...args) =>
          Effect.suspend(() => {
            nth += 1
            return put(nth, views.put(...args))
          })
      }
    }
  }

const storedView = Broker.use(({ views }) =>
  Effect.map(views.get("gate.a"), (found) => readView(found?.value ?? "")?.view)
)
const listed = Messenger.use((messenger) => messenger.query("gate", "list", {}))
const decided = (steps: number) => waitUntil(Effect.map(journalOf("a"), ({ length }) => length === steps))
const allDecided = decided(quick.length)
/** Sends each command when the one before is decided, so that processes get them in turn. */
const sendInTurn = Effect.forEach(quick, (n) => Effect.andThen(sendAll("a", [n]), decided(n)), { discard: true })

/** A process that stores the first view, and stops forever where it would store the next. */
const storingOnce = (stop: Stop) => puts((nth, go) => (nth === 1 ? go : stop.here))

describe("the view of an actor that decides quickly", () => {
  it.effect("is stored before anybody hears of the actor, and then once in the time that is set", () =>
    Effect.gen(function* () {
      const world = yield* memoryWorld({ viewEveryMs: 3_000 })
      const writtenAt: Array<number> = []
      const noting = puts((_, go) =>
        Effect.tap(
          go,
          Effect.map(Clock.currentTimeMillis, (now) => writtenAt.push(now))
        )
      )
      const one = yield* world.start(misbehaving(count, noting))
      yield* Effect.gen(function* () {
        yield* sendAll("a", quick)
        yield* drain
        assert.deepStrictEqual(yield* storedView, shownAfterAll)
        assert.lengthOf(writtenAt, 2)
        assert.isAtLeast((writtenAt[1] ?? 0) - (writtenAt[0] ?? 0), 3_000)
      }).pipe(Effect.provide(one))
    })
  )

  it.effect("is in the list at once, also while it is not stored", () =>
    Effect.gen(function* () {
      const world = yield* memoryWorld({ viewEveryMs: 60_000 })
      const one = yield* world.start(count)
      yield* Effect.gen(function* () {
        yield* sendAll("a", quick)
        yield* allDecided
        assert.deepStrictEqual(yield* listed, [shownAfterAll])
        assert.deepStrictEqual(yield* storedView, { total: 1, steps: 1, status: "little" })
      }).pipe(Effect.provide(one))
    })
  )

  it.effect("is stored when the process stops", () =>
    Effect.gen(function* () {
      const world = yield* memoryWorld({ viewEveryMs: 60_000 })
      const watching = yield* world.start()
      yield* Effect.gen(function* () {
        yield* world.start(count)
        yield* Effect.andThen(sendAll("a", quick), allDecided).pipe(Effect.provide(watching))
      }).pipe(Effect.scoped)
      assert.deepStrictEqual(yield* storedView.pipe(Effect.provide(watching)), shownAfterAll)
    })
  )

  it.effect("is stored by another process when its own is killed while it waits", () =>
    Effect.gen(function* () {
      const world = yield* memoryWorld({ viewEveryMs: 500 })
      const watching = yield* world.start()
      yield* Effect.gen(function* () {
        const stop = yield* makeStop
        yield* world.start(misbehaving(count, storingOnce(stop)))
        yield* sendAll("a", quick).pipe(Effect.provide(watching))
        yield* stop.reached
      }).pipe(Effect.scoped)
      const two = yield* world.start(count)
      yield* drain.pipe(Effect.provide(two))
      assert.deepStrictEqual(yield* storedView.pipe(Effect.provide(watching)), shownAfterAll)
    })
  )

  const storedByReplica = (settings: Partial<ActorSettings>) =>
    Effect.gen(function* () {
      const world = yield* memoryWorld({ viewEveryMs: 500, ...settings })
      const watching = yield* world.start()
      yield* Effect.gen(function* () {
        const [stop, killed] = [yield* makeStop, yield* Scope.make()]
        // Commands go to both in turn: the first and the last to this one.
        yield* world.start(misbehaving(count, storingOnce(stop))).pipe(Scope.provide(killed))
        yield* world.start(count)
        yield* sendInTurn
        yield* stop.reached
        yield* Scope.close(killed, Exit.void)
        yield* drain
        assert.deepStrictEqual(yield* storedView, shownAfterAll)
      }).pipe(Effect.provide(watching))
    })

  it.effect("is stored by a replica that knows an earlier decision when the process of the last one is killed", () =>
    storedByReplica({})
  )

  it.effect("is stored by a replica that finds the last decision in the journal, its receipts being full", () =>
    storedByReplica({ receiptsKept: 2 })
  )

  it.effect("holds no input for long while it cannot be stored", () =>
    Effect.gen(function* () {
      const world = yield* memoryWorld()
      const full = new BrokerFull({ operation: "write", reason: "maximum bytes exceeded" })
      const one = yield* world.start(
        misbehaving(
          count,
          puts((nth, go) => (nth === 1 ? go : Effect.fail(full)))
        )
      )
      yield* Effect.gen(function* () {
        yield* sendAll("a", quick)
        yield* drain
        assert.deepStrictEqual(yield* listed, [shownAfterAll])
        yield* sendAll("a", [6])
        yield* drain
      }).pipe(Effect.provide(one))
    })
  )

  it.effect("is stored before its input is settled, also when the broker is away for seconds", () =>
    Effect.gen(function* () {
      const world = yield* memoryWorld()
      const trouble = new BrokerFault({ operation: "write", cause: "no answer" })
      const one = yield* world.start(
        misbehaving(
          count,
          puts((nth, go) => (nth === 1 || nth > 7 ? go : Effect.fail(trouble)))
        )
      )
      yield* Effect.gen(function* () {
        yield* sendAll("a", quick)
        yield* drain
        assert.deepStrictEqual(yield* storedView, shownAfterAll)
      }).pipe(Effect.provide(one))
    })
  )
})
