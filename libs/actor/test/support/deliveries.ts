/** Messages for tests of a broker, and what becomes of them. */
import { type Key, subjects } from "@reprise/protocol"
import { Deferred, Effect } from "effect"
import type { BrokerShape, ConsumerSpec, Delivered, Message } from "../../src/broker/Broker.ts"

const s = subjects("t")

export const message = (subject: string, id: string, body = "{}"): Message => ({
  subject,
  body,
  meta: { id, type: "Thing", source: "/test", subject: "r1", time: "2026-01-01T00:00:00.000Z" }
})

export const commandsOf = (key: Key, more: Partial<ConsumerSpec> = {}): ConsumerSpec => ({
  stream: "commands",
  durable: `commands-${key}`,
  filters: [s.command("gate", key)],
  maxInFlight: 100,
  ackWaitMs: 5_000,
  ...more
})

/** Collects deliveries; what is done with each is up to the test. */
export const collect = (onDelivery: (delivery: Delivered) => void) => {
  const seen: Array<Delivered> = []
  const take = (delivery: Delivered) => {
    seen.push(delivery)
    onDelivery(delivery)
  }
  return { seen, take, ids: () => seen.map((delivery) => delivery.header("ce-id")) }
}

export const sendSome = (broker: BrokerShape, key: Key, count: number) =>
  broker.publish(Array.from({ length: count }, (_, n) => message(s.command("gate", key), `${key}-${n}`, `{"n":${n}}`)))

/** Waits for one delivery of a consumer. */
export const pullOne = Effect.fnUntraced(function* (broker: BrokerShape, spec: ConsumerSpec) {
  const found = yield* Deferred.make<Delivered>()
  let room = 1
  const take = (delivery: Delivered) => {
    room = 0
    Deferred.doneUnsafe(found, Effect.succeed(delivery))
  }
  yield* broker.pull([spec], () => room, take)
  return yield* Deferred.await(found)
})
