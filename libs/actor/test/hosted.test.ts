/** Views say whether somebody is there who does the work that they tell of. */
import { assert, describe, it } from "@effect/vitest"
import { Host, subjects } from "@reprise/protocol"
import { Effect, Fiber, Predicate, Schema } from "effect"
import { TestClock } from "effect/testing"
import type { WorkOnHost } from "../src/Actor.ts"
import type { BrokerShape } from "../src/broker/Broker.ts"
import { drain, Messenger, workerLayer } from "../src/index.ts"
import { askHosts, withHosted } from "../src/runtime/hosted.ts"
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

  it.effect("is as it was where it is no object, or its work is over, and each host is asked once, side by side", () =>
    Effect.gen(function* () {
      const asked: Array<readonly [string, string]> = []
      const busy = {
        request: (subject: string, text: string) => {
          asked.push([subject, text])
          return Effect.never
        }
      } as unknown as BrokerShape
      const work: WorkOnHost = {
        by: ["gate", "workspace"],
        hostOf: (view) =>
          Predicate.hasProperty(view, "over")
            ? undefined
            : Host.make(Predicate.hasProperty(view, "on") ? `${view.on}` : "h1")
      }
      const asks = (view: unknown) => Effect.forkChild(withHosted(busy, subjects("t"), work, view))
      const shown = yield* Effect.forEach([{ over: true }, { n: 1 }, { n: 2, on: "h2" }], asks)
      const together = yield* Effect.forkChild(askHosts(busy, subjects("t"), work, [Host.make("h3"), Host.make("h3")]))
      yield* TestClock.adjust("1 second")
      const expected = [{ over: true }, { n: 1, hosted: true }, { n: 2, on: "h2", hosted: true }]
      assert.deepStrictEqual<unknown>(yield* Fiber.joinAll(shown), expected)
      assert.deepStrictEqual([...(yield* Fiber.join(together))], [["h3", true]])
      const workers = ["h1", "h2", "h3"].flatMap((on) =>
        work.by.map((service) => [subjects("t").worker(service, Host.make(on)), ""] as const)
      )
      assert.sameDeepMembers(asked, workers)
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
