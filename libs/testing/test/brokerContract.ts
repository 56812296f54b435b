import { assert, type Vitest } from "@effect/vitest"
import { Nats } from "@reprise/nats"
import { Context, Effect, Fiber, Layer, Schedule } from "effect"
import { Broker } from "../src/index.ts"

const stream = { name: "CONTRACT", subjects: ["contract.>"] }

/** A connection of its own, closed with the test. */
const connected = Effect.gen(function* () {
  const { url } = yield* Broker
  const options = { url, name: "contract", reconnectWaitMs: 50, requestTimeoutMs: 1000 }
  return Context.get(yield* Layer.build(Nats.layer(options)), Nats)
})

/** Publishes until the broker has acknowledged: the same message id each time, so it is stored once. */
const publish = (nats: Nats["Service"], id: string) =>
  Effect.tryPromise(() => nats.js.publish(`contract.${id}`, id, { msgID: id, timeout: 500 })).pipe(
    Effect.retry(Schedule.spaced("50 millis"))
  )

const ensureStream = (nats: Nats["Service"]) =>
  Effect.tryPromise(() => nats.jsm.streams.add({ ...stream, storage: "file" })).pipe(
    Effect.retry(Schedule.spaced("50 millis"))
  )

const stored = (nats: Nats["Service"]) =>
  Effect.tryPromise(() => nats.jsm.streams.info(stream.name)).pipe(
    Effect.retry(Schedule.spaced("50 millis")),
    Effect.map((info) => info.state.messages)
  )

/** What every broker for tests must do. The tests share one broker and run in order. */
export const brokerContract = (it: Vitest.MethodsNonLive<Broker>) => {
  it.effect("stores published messages", () =>
    Effect.gen(function* () {
      const nats = yield* connected
      yield* ensureStream(nats)
      yield* publish(nats, "one")
      yield* publish(nats, "one")
      assert.strictEqual(yield* stored(nats), 1)
    })
  )

  it.effect("keeps its data and its address through a restart, and clients reconnect", () =>
    Effect.gen(function* () {
      const broker = yield* Broker
      const nats = yield* connected
      yield* broker.restart
      assert.strictEqual(yield* stored(nats), 1)
      yield* publish(nats, "two")
      assert.strictEqual(yield* stored(nats), 2)
    })
  )

  it.effect("keeps acknowledged messages when it is killed, and stays down until it is started", () =>
    Effect.gen(function* () {
      const broker = yield* Broker
      const nats = yield* connected
      yield* publish(nats, "three")
      yield* broker.kill
      yield* Effect.flip(connected)
      yield* broker.start
      assert.strictEqual(yield* stored(nats), 3)
    })
  )

  it.effect("answers nothing while it is frozen, and answers everything once it is resumed", () =>
    Effect.gen(function* () {
      const broker = yield* Broker
      const nats = yield* connected
      yield* broker.pause
      yield* Effect.flip(
        Effect.tryPromise(() => nats.js.publish("contract.four", "four", { timeout: 200, msgID: "four" }))
      ).pipe(Effect.ensuring(Effect.orDie(broker.resume)))
      yield* publish(nats, "four")
      assert.strictEqual(yield* stored(nats), 4)
    })
  )

  it.effect("is out of reach for old and new connections while the link is cut, and in reach once it is healed", () =>
    Effect.gen(function* () {
      const broker = yield* Broker
      const nats = yield* connected
      yield* broker.cut
      const sent = yield* Effect.forkChild(publish(nats, "five"))
      const late = yield* Effect.forkChild(connected)
      yield* Effect.flip(Effect.tryPromise(() => nats.js.publish("contract.x", "x", { timeout: 200, msgID: "five" })))
      assert.isUndefined(sent.pollUnsafe())
      assert.isUndefined(late.pollUnsafe())
      yield* broker.heal
      yield* Fiber.join(sent)
      assert.strictEqual(yield* stored(yield* Fiber.join(late)), 5)
    })
  )
}
