/** How far a service is behind, as who reads its metrics is told it. */
import { assert, describe, it } from "@effect/vitest"
import { Key, type ServiceName, subjects } from "@reprise/protocol"
import { Effect, Fiber, Layer, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { Broker, type BrokerShape, type ConsumerSpec, type Lag } from "../src/broker/Broker.ts"
import { BrokerFault } from "../src/broker/faults.ts"
import { MemoryBroker } from "../src/index.ts"
import { lagForReaders, lagMetrics, lagSamples, measureLag } from "../src/metrics/lagMetrics.ts"
import { counted } from "./support/counted.ts"
import { commandsOf, message, pullOne, sendSome } from "./support/deliveries.ts"

const s = subjects("t")
/** A name of its own, as the registry is the process's. */
const freshName = () => `service-${crypto.randomUUID()}` as ServiceName
const told = (service: string, stream: ConsumerSpec["stream"] = "commands") =>
  ["reprise_pending_messages", "reprise_unacknowledged_messages"].map(
    (name) => counted(name).get(`service=${service},stream=${stream}`)?.[0]
  )

const story = <A, E>(test: Effect.Effect<A, E, Broker | Scope.Scope>) =>
  test.pipe(Effect.provide(MemoryBroker.layer), Effect.scoped)

/** A broker that counts how often it is asked. */
const asked = (lag: Effect.Effect<Lag | undefined, BrokerFault>) => {
  const times = { count: 0 }
  const broker: Pick<BrokerShape, "lag"> = {
    lag: () =>
      Effect.suspend(() => {
        times.count += 1
        return lag
      })
  }
  return { broker, times }
}

describe("what a service has not done", () => {
  it.effect("grows while nobody takes its messages, and is told again to whoever reads it later", () =>
    story(
      Effect.gen(function* () {
        const broker = yield* Broker
        const service = freshName()
        const key = Key.make("a")
        const spec = commandsOf(key)
        yield* measureLag(broker, service, spec)
        yield* sendSome(broker, key, 2)
        const first = yield* pullOne(broker, spec)
        const read = yield* lagForReaders
        yield* read
        assert.deepStrictEqual(told(service), [1, 1])
        yield* broker.publish(["x", "y"].map((id) => message(s.command("gate", key), id)))
        first.ack()
        yield* TestClock.adjust("5 seconds")
        yield* read
        assert.deepStrictEqual(told(service), [3, 0])
      })
    )
  )

  it("of work is the sum over its host and any host", () => {
    const lags = [
      { waiting: 1, unsettled: 2 },
      { waiting: 10, unsettled: 20 }
    ]
    assert.deepStrictEqual(
      lagSamples("gate", "work", lags).map(({ name, value }) => [name, value]),
      [
        ["reprise_pending_messages", 11],
        ["reprise_unacknowledged_messages", 22]
      ]
    )
  })

  it.effect("is fetched from the broker only when it is read, at most once in five seconds", () =>
    story(
      Effect.gen(function* () {
        const { broker, times } = asked(Effect.succeed({ waiting: 1, unsettled: 0 }))
        yield* measureLag(broker, freshName(), commandsOf(Key.make("a")))
        const read = yield* lagForReaders
        yield* TestClock.adjust("1 hour")
        assert.strictEqual(times.count, 0)
        yield* Effect.all([read, read, read], { concurrency: "unbounded" })
        assert.strictEqual(times.count, 1)
        yield* TestClock.adjust("5 seconds")
        yield* read
        assert.strictEqual(times.count, 2)
      })
    )
  )

  it.effect("is asked every 15 seconds for a collector", () =>
    story(
      Effect.gen(function* () {
        const { broker, times } = asked(Effect.succeed({ waiting: 1, unsettled: 0 }))
        yield* measureLag(broker, freshName(), commandsOf(Key.make("a")))
        yield* Layer.build(lagMetrics)
        yield* TestClock.adjust("31 seconds")
        assert.strictEqual(times.count, 3)
      })
    )
  )

  it.effect("holds up a reader for a second at most while the broker does not answer, and keeps its last value", () =>
    story(
      Effect.gen(function* () {
        const service = freshName()
        const answers: Array<Effect.Effect<Lag, BrokerFault>> = [
          Effect.succeed({ waiting: 7, unsettled: 1 }),
          Effect.never,
          new BrokerFault({ operation: "look", cause: "away" })
        ]
        const { broker } = asked(Effect.suspend(() => answers.shift() ?? Effect.never))
        yield* measureLag(broker, service, commandsOf(Key.make("a")))
        const read = yield* lagForReaders
        for (const _ of answers.slice()) {
          const reading = yield* Effect.forkChild(read)
          yield* TestClock.adjust("1 second")
          yield* Fiber.join(reading)
          assert.deepStrictEqual(told(service), [7, 1])
          yield* TestClock.adjust("5 seconds")
        }
      })
    )
  )

  it.effect("keeps its last value if any of its consumers is unknown", () =>
    story(
      Effect.gen(function* () {
        const service = freshName()
        const [known, unknown] = [asked(Effect.succeed({ waiting: 1, unsettled: 1 })), asked(Effect.undefined)]
        for (const { broker } of [known, unknown]) {
          yield* measureLag(broker, service, { ...commandsOf(Key.make("a")), stream: "work" })
        }
        yield* yield* lagForReaders
        assert.deepStrictEqual(told(service, "work"), [undefined, undefined])
      })
    )
  )

  it.effect("is not asked any more once the service has ended", () =>
    story(
      Effect.gen(function* () {
        const { broker, times } = asked(Effect.succeed({ waiting: 1, unsettled: 1 }))
        yield* Effect.scoped(measureLag(broker, freshName(), commandsOf(Key.make("a"))))
        yield* yield* lagForReaders
        assert.strictEqual(times.count, 0)
      })
    )
  )
})
