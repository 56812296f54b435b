/** A worker that takes work for any host only while it has room for it. */
import { assert, describe } from "@effect/vitest"
import { Host, type Key } from "@reprise/protocol"
import { Effect, Schedule, SubscriptionRef } from "effect"
import { actorLayer, Messenger, type PullLimit, workerLayer } from "../../src/index.ts"
import { CounterWork, counter, toCounter } from "./Counter.ts"
import { type Stage, waitUntil } from "./systems.ts"

const count = actorLayer(counter)
const [first, second] = [Host.make("first"), Host.make("second")]

const ask = (key: string, name: string) =>
  Messenger.use((messenger) => messenger.send(toCounter(key).AskForWork({ name })))

/** A host that keeps what it has begun, by the actor's key, until the test takes it away; at most so many at a time. */
const keeping = Effect.fnUntraced(function* (host: Host, limit: number, begun: Array<string>) {
  const kept = yield* SubscriptionRef.make<ReadonlySet<Key>>(new Set())
  const pullLimit: PullLimit = {
    available: (underWay) => limit - new Set([...SubscriptionRef.getUnsafe(kept), ...underWay]).size,
    changes: SubscriptionRef.changes(kept)
  }
  const layer = workerLayer({
    service: "gate",
    host,
    work: CounterWork,
    pullLimit,
    slots: () => ({ used: SubscriptionRef.getUnsafe(kept).size, all: limit }),
    concurrency: 64,
    handle: ({ name }, { key }) =>
      Effect.andThen(
        Effect.sync(() => void begun.push(`${name} on ${host}`)),
        SubscriptionRef.update(kept, (keys) => new Set([...keys, key]))
      )
  })
  const end = (key: string) =>
    SubscriptionRef.update(kept, (keys) => new Set([...keys].filter((one) => one !== (key as Key))))
  return { layer, end }
})

const has = (begun: ReadonlyArray<string>, length: number) => waitUntil(Effect.sync(() => begun.length === length))

export const pullLimitSuite = (name: string, { open, test }: Stage) =>
  describe(name, () => {
    test("takes no more work for any host than it has room for, and the next piece when there is more", () =>
      Effect.gen(function* () {
        const world = yield* open()
        const begun: Array<string> = []
        const one = yield* keeping(first, 2, begun)
        const process = yield* world.start(count, one.layer)
        yield* Effect.gen(function* () {
          yield* Effect.forEach(["a", "b", "c", "d", "e"], (key) => ask(key, key), { concurrency: "unbounded" })
          yield* has(begun, 2)
          const other = yield* keeping(second, 2, begun)
          yield* world.start(other.layer)
          yield* has(begun, 4)
          assert.lengthOf(
            begun.filter((what) => what.endsWith("first")),
            2
          )
          const views = yield* Messenger.use(({ hosts }) => hosts("gate")).pipe(
            Effect.repeat({ until: (all) => all.length === 2, schedule: Schedule.spaced("10 millis") })
          )
          assert.deepStrictEqual(
            views.map(({ slots }) => slots),
            [
              { used: 2, all: 2 },
              { used: 2, all: 2 }
            ]
          )
          const [ended = ""] = begun.filter((what) => what.endsWith("second"))
          yield* other.end(ended.slice(0, 1))
          yield* has(begun, 5)
          assert.match(begun[4] ?? "", / on second$/)
        }).pipe(Effect.provide(process))
      }).pipe(Effect.scoped))

    test("counts all pieces of work of one actor once", () =>
      Effect.gen(function* () {
        const world = yield* open()
        const begun: Array<string> = []
        const one = yield* keeping(first, 2, begun)
        const process = yield* world.start(count, one.layer)
        yield* Effect.gen(function* () {
          yield* ask("a", "1")
          yield* has(begun, 1)
          yield* ask("a", "2")
          yield* has(begun, 2)
          yield* ask("b", "3")
          yield* has(begun, 3)
          yield* ask("c", "4")
          yield* one.end("a")
          yield* has(begun, 4)
        }).pipe(Effect.provide(process))
      }).pipe(Effect.scoped))
  })
