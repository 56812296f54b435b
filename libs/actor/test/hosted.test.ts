/** Views say whether somebody is there who does the work that they tell of. */
import { assert, describe, it } from "@effect/vitest"
import { Host, subjects } from "@reprise/protocol"
import { Effect, Predicate, Schema } from "effect"
import { drain, Messenger, workerLayer } from "../src/index.ts"
import { CounterWork, counterLayer, toCounter } from "./support/Counter.ts"
import { misbehaving } from "./support/misbehave.ts"
import { send } from "./support/observe.ts"
import { memoryWorld } from "./support/systems.ts"

const host = Host.make("here")

/** A counter whose work is over when it has counted much. */
const counting = counterLayer({
  workOnHost: {
    by: ["gate"],
    hostOf: (view) => (Predicate.hasProperty(view, "status") && view.status === "little" ? host : undefined)
  }
})

const worker = workerLayer({ service: "gate", host, work: CounterWork, handle: () => Effect.void })

const decode = Schema.decodeUnknownSync(Schema.Struct({ hosted: Schema.optionalKey(Schema.Boolean) }))

/** What `show` and `list` say of one counter. */
const hosted = Effect.gen(function* () {
  const messenger = yield* Messenger
  const shown = decode(yield* messenger.query("gate", "show", { id: "a" }))
  const [listed] = Schema.decodeUnknownSync(Schema.Array(Schema.Unknown))(yield* messenger.query("gate", "list", {}))
  assert.deepStrictEqual(decode(listed), shown)
  return shown.hosted
})

describe("a view of work on a host", () => {
  it.effect("is hosted as long as a worker of that host is there", () =>
    Effect.gen(function* () {
      const world = yield* memoryWorld()
      yield* Effect.gen(function* () {
        yield* send(toCounter("a").Add({ n: 1 }))
        yield* drain
        assert.isFalse(yield* hosted)
        yield* Effect.gen(function* () {
          yield* world.start(worker)
          assert.isTrue(yield* hosted)
        }).pipe(Effect.scoped)
        assert.isFalse(yield* hosted)
      }).pipe(Effect.provide(yield* world.start(counting)))
    })
  )

  it.effect("does not say it when the work is over", () =>
    Effect.gen(function* () {
      const world = yield* memoryWorld()
      yield* Effect.gen(function* () {
        yield* send(toCounter("a").Add({ n: 100 }))
        yield* drain
        assert.isUndefined(yield* hosted)
      }).pipe(Effect.provide(yield* world.start(counting)))
    })
  )

  it.effect("is hosted by a worker that is too busy to answer", () =>
    Effect.gen(function* () {
      const world = yield* memoryWorld()
      const subject = subjects("t").worker("gate", host)
      const busy = misbehaving(counting, (broker) => ({
        request: (to, request) => (to === subject ? Effect.never : broker.request(to, request))
      }))
      yield* Effect.gen(function* () {
        yield* send(toCounter("a").Add({ n: 1 }))
        yield* drain
        assert.isTrue(yield* hosted)
      }).pipe(Effect.provide(yield* world.start(busy)))
    })
  )
})
