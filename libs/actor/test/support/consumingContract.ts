/** What every broker promises of its consumers; a part of `brokerContract`. */
import { assert, type Vitest } from "@effect/vitest"
import { Host, type Key, subjects } from "@reprise/protocol"
import { Clock, Effect, Fiber } from "effect"
import type { Delivered } from "../../src/broker/Broker.ts"
import { Broker } from "../../src/index.ts"
import { collect, commandsOf, message, pullOne, sendSome } from "./deliveries.ts"
import { waitUntil } from "./systems.ts"

const s = subjects("t")
/** Longer than a busy machine keeps a test from settling what it was given. */
const longAckWaitMs = 20_000

/** `freshKey`: one that no other test of this broker has. */
export const consumingContract = (it: Vitest.MethodsNonLive<Broker>, freshKey: () => Key): void => {
  it.effect("delivers what is published, in order, each id once, with its envelope", () =>
    Effect.gen(function* () {
      const broker = yield* Broker
      const key = freshKey()
      const { ids, seen, take } = collect((delivery) => delivery.ack())
      yield* broker.consume(commandsOf(key), take)
      yield* sendSome(broker, key, 20)
      yield* sendSome(broker, key, 20)
      yield* waitUntil(Effect.sync(() => seen.length >= 20))
      yield* broker.settled
      assert.deepStrictEqual(
        ids(),
        Array.from({ length: 20 }, (_, n) => `${key}-${n}`)
      )
      const [first] = seen
      assert.deepStrictEqual(
        [first?.subject, first?.deliveryCount, first?.header("ce-type"), first?.header("nothing")],
        [s.command("gate", key), 1, "dev.reprise.Thing.v1", ""]
      )
    }).pipe(Effect.scoped)
  )

  it.effect("goes on where the consumer of that name was, and shares it between those who use it", () =>
    Effect.gen(function* () {
      const broker = yield* Broker
      const key = freshKey()
      const { ids, seen, take } = collect((delivery) => delivery.ack())
      yield* sendSome(broker, key, 5)
      yield* broker
        .consume(commandsOf(key), take)
        .pipe(Effect.andThen(waitUntil(Effect.sync(() => seen.length >= 5))), Effect.scoped)
      yield* broker.consume(commandsOf(key), take)
      yield* broker.consume(commandsOf(key), take)
      yield* broker.publish(Array.from({ length: 5 }, (_, n) => message(s.command("gate", key), `${key}-second-${n}`)))
      yield* waitUntil(Effect.sync(() => seen.length >= 10))
      yield* broker.settled
      assert.strictEqual(new Set(ids()).size, 10)
      assert.strictEqual(seen.length, 10)
    }).pipe(Effect.scoped)
  )

  it.effect("delivers again what is handed back, after the delay, and counts", () =>
    Effect.gen(function* () {
      const broker = yield* Broker
      const key = freshKey()
      const times: Array<number> = []
      const clock = yield* Clock.Clock
      const { seen, take } = collect((delivery) => {
        times.push(clock.currentTimeMillisUnsafe())
        if (delivery.deliveryCount < 3) delivery.nak(delivery.deliveryCount === 2 ? 200 : undefined)
        else delivery.ack()
      })
      yield* broker.consume(commandsOf(key, { ackWaitMs: longAckWaitMs }), take)
      yield* sendSome(broker, key, 1)
      yield* waitUntil(Effect.sync(() => seen.length >= 3))
      assert.deepStrictEqual(
        seen.slice(0, 3).map(({ deliveryCount }) => deliveryCount),
        [1, 2, 3]
      )
      assert.isAtLeast((times[2] ?? 0) - (times[1] ?? 0), 190)
      yield* broker.settled
    }).pipe(Effect.scoped)
  )

  it.effect("delivers again what nobody settles, but not while it is worked on", () =>
    Effect.gen(function* () {
      const broker = yield* Broker
      const key = freshKey()
      const { seen, take } = collect(() => undefined)
      yield* broker.consume(commandsOf(key, { ackWaitMs: longAckWaitMs }), take)
      yield* sendSome(broker, key, 1)
      yield* waitUntil(Effect.sync(() => seen.length === 1))
      const working = yield* Effect.sync(() => seen[0]?.working()).pipe(
        Effect.delay("300 millis"),
        Effect.repeat({ times: Math.ceil((1.25 * longAckWaitMs) / 300) }),
        Effect.forkScoped
      )
      yield* Fiber.join(working)
      assert.strictEqual(seen.length, 1)
      yield* waitUntil(Effect.sync(() => seen.length >= 2))
      seen[0]?.ack()
      yield* broker.settled
    }).pipe(Effect.scoped)
  )

  it.effect("keeps no more under way than allowed", () =>
    Effect.gen(function* () {
      const broker = yield* Broker
      const key = freshKey()
      const { ids, seen, take } = collect(() => undefined)
      yield* broker.consume(commandsOf(key, { maxInFlight: 3, ackWaitMs: longAckWaitMs }), take)
      yield* sendSome(broker, key, 10)
      yield* waitUntil(Effect.sync(() => seen.length >= 3))
      for (let n = 0; n < 10; n++) {
        yield* waitUntil(Effect.sync(() => seen.length > n))
        assert.isAtMost(seen.length - n, 3)
        seen[n]?.ack()
      }
      yield* broker.settled
      assert.strictEqual(new Set(ids()).size, 10)
    }).pipe(Effect.scoped)
  )

  it.effect("gives deliveries of several consumers as long as there is room, and hands back what comes without", () =>
    Effect.gen(function* () {
      const broker = yield* Broker
      const [a, b] = [freshKey(), freshKey()]
      const seen: Array<Delivered> = []
      let room = 0
      const askForMore = yield* broker.pull(
        [commandsOf(a), commandsOf(b)],
        () => room,
        (delivery) => {
          room -= 1
          seen.push(delivery)
        }
      )
      const send = (key: string, ...ids: ReadonlyArray<string>) =>
        broker.publish(ids.map((id) => message(s.command("gate", key), `${key}-${id}`)))
      yield* send(a, "1", "2")
      yield* send(b, "1", "2")
      assert.lengthOf(seen, 0)
      const make = (count: number) => {
        room = count
        askForMore()
      }
      make(1)
      yield* waitUntil(Effect.sync(() => seen.length === 1))
      // Both consumers were asked; what the other one gave is handed back, and comes again.
      make(3)
      yield* waitUntil(Effect.sync(() => seen.length === 4))
      assert.sameMembers(
        seen.map(({ header }) => header("ce-id")),
        [`${a}-1`, `${a}-2`, `${b}-1`, `${b}-2`]
      )
      for (const delivery of seen) delivery.ack()
      yield* broker.settled
    }).pipe(Effect.scoped)
  )

  it.effect("gives only those of a consumer for which there is room", () =>
    Effect.gen(function* () {
      const broker = yield* Broker
      const [a, b] = [freshKey(), freshKey()]
      const [closed, open] = [commandsOf(a), commandsOf(b)]
      const seen: Array<string> = []
      let isOpen = false
      const askForMore = yield* broker.pull(
        [closed, open],
        (spec) => (spec === open || isOpen ? 4 : 0),
        (delivery) => {
          seen.push(delivery.header("ce-id"))
          delivery.ack()
        }
      )
      yield* sendSome(broker, a, 2)
      yield* sendSome(broker, b, 2)
      yield* waitUntil(Effect.sync(() => seen.length === 2))
      assert.isTrue(seen.every((id) => id.startsWith(b)))
      isOpen = true
      askForMore()
      yield* waitUntil(Effect.sync(() => seen.length === 4))
      yield* broker.settled
    }).pipe(Effect.scoped)
  )

  it.effect("says whether all commands and events are handled, whatever work waits", () =>
    Effect.gen(function* () {
      const broker = yield* Broker
      const key = freshKey()
      yield* broker.settled
      yield* sendSome(broker, key, 1)
      const command = yield* pullOne(broker, commandsOf(key))
      assert.isFalse(yield* broker.decided)
      command.ack()
      yield* waitUntil(broker.decided)
      const work = s.work("workspace", Host.make("local"), key)
      yield* broker.publish([message(work, `${key}-work`)])
      const spec = { ...commandsOf(key), stream: "work", durable: `work-${key}`, filters: [work] } as const
      const piece = yield* pullOne(broker, spec)
      assert.isTrue(yield* broker.decided)
      piece.ack()
      yield* broker.settled
    }).pipe(Effect.scoped)
  )

  it.effect("says what a consumer has not done: what waits, and what was delivered and is not settled", () =>
    Effect.gen(function* () {
      const broker = yield* Broker
      const key = freshKey()
      const spec = commandsOf(key, { ackWaitMs: longAckWaitMs })
      const until = (waiting: number, unsettled: number) =>
        waitUntil(Effect.map(broker.lag(spec), (lag) => lag?.waiting === waiting && lag.unsettled === unsettled))
      assert.isUndefined(yield* broker.lag(spec))
      yield* sendSome(broker, key, 3)
      const first = yield* pullOne(broker, spec)
      yield* until(2, 1)
      first.ack()
      yield* until(2, 0)
      // Nobody takes anything any more.
      yield* sendSome(broker, freshKey(), 1)
      yield* broker.publish([message(s.command("gate", key), `${key}-more`)])
      yield* until(3, 0)
      const { take } = collect((delivery) => delivery.ack())
      yield* broker.consume(spec, take)
      yield* until(0, 0)
    }).pipe(Effect.scoped)
  )
}
