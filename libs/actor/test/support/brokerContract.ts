/** What every broker promises, as tests of a layer. */
import { randomBytes } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { Host, Key, subjects } from "@reprise/protocol"
import { Clock, Effect, Fiber, type Layer, Result, Stream } from "effect"
import type { BrokerShape, Delivered } from "../../src/broker/Broker.ts"
import { type ActorConfig, Broker } from "../../src/index.ts"
import { collect, commandsOf, message, pullOne, sendSome } from "./deliveries.ts"
import { hearing } from "./hearing.ts"
import { storesContract } from "./storesContract.ts"
import { waitUntil } from "./systems.ts"

const s = subjects("t")
/** Longer than a busy machine keeps a test from settling what it was given. */
const longAckWaitMs = 20_000
let made = 0

/** Every test has keys of its own: they share a broker. */
const freshKey = () => Key.make(`k${made++}`)

export const brokerContract = <E>(name: string, live: Layer.Layer<Broker | ActorConfig, E>) =>
  layer(live, { excludeTestServices: true, timeout: "15 minutes" })(name, (it) => {
    it.effect("appends only after the message that the writer saw last", () =>
      Effect.gen(function* () {
        const broker = yield* Broker
        const journal = s.journal("escalation", freshKey())
        const first = yield* broker.append(message(journal, `${journal}-1`), 0)
        const second = yield* broker.append(message(journal, `${journal}-2`), first)
        assert.isAbove(second, first)
        const late = yield* Effect.flip(broker.append(message(journal, `${journal}-3`), first))
        assert.strictEqual(late._tag, "Conflict")
        const unaware = yield* Effect.flip(broker.append(message(journal, `${journal}-4`), 0))
        assert.strictEqual(unaware._tag, "Conflict")
      })
    )

    it.effect("takes a repeated append for the one that was stored", () =>
      Effect.gen(function* () {
        const broker = yield* Broker
        const journal = s.journal("escalation", freshKey())
        const first = yield* broker.append(message(journal, `${journal}-1`), 0)
        assert.strictEqual(yield* broker.append(message(journal, `${journal}-1`), 0), first)
        assert.strictEqual((yield* broker.read("journal", journal, 0)).length, 1)
      })
    )

    it.effect("lets one of several writers append at the same place", () =>
      Effect.gen(function* () {
        const broker = yield* Broker
        const journal = s.journal("escalation", freshKey())
        const outcomes = yield* Effect.forEach(
          Array.from({ length: 10 }, (_, n) => n),
          (n) => Effect.result(broker.append(message(journal, `${journal}-${n}`), 0)),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(outcomes.filter(Result.isSuccess).length, 1)
      })
    )

    it.effect("reads a subject in order, from a place, with a limit, and nothing of other subjects", () =>
      Effect.gen(function* () {
        const broker = yield* Broker
        const [one, other] = [s.journal("escalation", freshKey()), s.journal("escalation", freshKey())]
        const sequences: Array<number> = []
        for (let n = 0; n < 30; n++) {
          sequences.push(yield* broker.append(message(one, `${one}-${n}`, `{"n":${n}}`), sequences.at(-1) ?? 0))
          yield* broker.publish([message(other, `${other}-${n}`)])
        }
        const all = yield* broker.read("journal", one, 0)
        assert.deepStrictEqual(
          all.map(({ sequence }) => sequence),
          sequences
        )
        assert.strictEqual(yield* all[17]?.body ?? Effect.die("missing"), `{"n":17}`)
        const tail = yield* broker.read("journal", one, sequences[26] ?? 0)
        assert.deepStrictEqual(
          tail.map(({ sequence }) => sequence),
          sequences.slice(27)
        )
        assert.strictEqual((yield* broker.next("journal", one, sequences[9] ?? 0))?.sequence, sequences[10])
        assert.strictEqual(yield* broker.next("journal", one, sequences.at(-1) ?? 0), undefined)
        assert.strictEqual((yield* broker.last("journal", one))?.sequence, sequences.at(-1))
        assert.strictEqual(yield* broker.last("journal", s.journal("escalation", freshKey())), undefined)
        assert.deepStrictEqual(yield* broker.read("journal", s.journal("escalation", freshKey()), 0), [])
      })
    )

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
        yield* broker.publish(
          Array.from({ length: 5 }, (_, n) => message(s.command("gate", key), `${key}-second-${n}`))
        )
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

    it.effect("carries bodies of any size", () =>
      Effect.gen(function* () {
        const broker = yield* Broker
        const key = freshKey()
        const large = JSON.stringify({ text: "ö".repeat(1_500_000) })
        const journal = s.journal("escalation", key)
        yield* broker.append(message(journal, `${journal}-large`, large), 0)
        const [entry] = yield* broker.read("journal", journal, 0)
        assert.strictEqual(yield* entry?.body ?? Effect.die("missing"), large)
        yield* broker.publish([message(s.command("gate", key), `${key}-large`, large)])
        const delivery = yield* pullOne(broker, commandsOf(key))
        assert.strictEqual(yield* delivery.body, large)
        delivery.ack()
        yield* broker.snapshots.put(`large.${key}`, large)
        assert.strictEqual((yield* broker.snapshots.get(`large.${key}`))?.value, large)
        assert.deepStrictEqual(yield* broker.snapshots.list("large"), [{ key: `large.${key}`, value: large }])
      }).pipe(Effect.scoped)
    )

    it.effect("reads events from any place, in order, and those that come later", () =>
      Effect.gen(function* () {
        const broker = yield* Broker
        const key = freshKey()
        const subject = s.event("gate", key, "Thing")
        const ids = (from: Parameters<BrokerShape["follow"]>[1], count: number) =>
          broker.follow([subject], from).pipe(
            Stream.take(count),
            Stream.runCollect,
            Effect.map((seen) => seen.map((event) => event.header("ce-id")))
          )
        yield* broker.publish([message(subject, `${key}-1`), message(s.event("gate", freshKey(), "Thing"), `${key}-o`)])
        yield* broker.publish([message(subject, `${key}-2`)])
        const place = (yield* broker.last("events", subject))?.sequence ?? 0
        const now: Array<string> = []
        yield* broker.follow([subject, s.event("gate", key, "Other")], "now").pipe(
          Stream.runForEach((event) => Effect.sync(() => now.push(event.header("ce-id")))),
          Effect.forkScoped
        )
        const probe = Effect.suspend(() =>
          broker.publish([message(s.event("gate", key, "Other"), `${key}-probe-${crypto.randomUUID()}`)])
        )
        yield* waitUntil(Effect.map(probe, () => now.length > 0))
        const later = yield* Effect.forkScoped(ids("beginning", 3))
        yield* broker.publish([message(subject, `${key}-3`)])
        assert.deepStrictEqual(yield* Fiber.join(later), [`${key}-1`, `${key}-2`, `${key}-3`])
        assert.deepStrictEqual(yield* ids({ sequence: place }, 2), [`${key}-2`, `${key}-3`])
        assert.deepStrictEqual(yield* ids({ since: "2020-01-01T00:00:00Z" }, 1), [`${key}-1`])
        yield* waitUntil(Effect.sync(() => now.includes(`${key}-3`)))
        assert.deepStrictEqual(
          now.filter((id) => !id.includes("probe")),
          [`${key}-3`]
        )
      }).pipe(Effect.scoped)
    )

    storesContract(it, freshKey)

    it.effect("purges a subject, large messages too, and nothing of other subjects", () =>
      Effect.gen(function* () {
        const broker = yield* Broker
        const [gone, kept] = [freshKey(), freshKey()]
        for (let n = 0; n < 10; n++) {
          const body = JSON.stringify({ n, text: "x".repeat(n === 3 ? 600_000 : 1) })
          yield* broker.publish([message(s.event("gate", gone, "Thing"), `${gone}-${n}`, body)])
          yield* broker.publish([message(s.event("gate", kept, "Thing"), `${kept}-${n}`)])
        }
        yield* broker.purge("events", s.events("*", gone))
        yield* broker.purge("events", s.events("*", gone))
        assert.deepStrictEqual(yield* broker.read("events", s.events("*", gone), 0), [])
        assert.strictEqual(yield* broker.last("events", s.event("gate", gone, "Thing")), undefined)
        assert.strictEqual((yield* broker.read("events", s.events("*", kept), 0)).length, 10)
        assert.strictEqual(yield* broker.last("events", s.events("*", gone)), undefined)
        const newest = yield* broker.last("events", s.event("gate", kept, "Thing"))
        assert.isDefined(newest)
        assert.strictEqual((yield* broker.last("events", s.events("*", kept)))?.sequence, newest?.sequence)
      })
    )

    it.effect("removes one message, large ones too, and the one before it becomes the last", () =>
      Effect.gen(function* () {
        const broker = yield* Broker
        const dead = s.dead("gate", freshKey())
        yield* broker.publish([message(dead, `${dead}-1`), message(dead, `${dead}-2`, `"${"x".repeat(600_000)}"`)])
        const [first, second] = yield* broker.read("dead", dead, 0)
        for (const times of [1, 2]) {
          yield* broker.remove("dead", second?.sequence ?? 0)
          assert.strictEqual((yield* broker.last("dead", dead))?.sequence, first?.sequence, `removed ${times} times`)
        }
        yield* broker.remove("dead", first?.sequence ?? 0)
        assert.strictEqual(yield* broker.last("dead", dead), undefined)
        assert.deepStrictEqual(yield* broker.read("dead", dead, 0), [])
      })
    )

    it.effect("lets a purged journal begin anew, and whoever remembers its end append nothing", () =>
      Effect.gen(function* () {
        const broker = yield* Broker
        const journal = s.journal("escalation", freshKey())
        const end = yield* broker.append(message(journal, `${journal}-1`), 0)
        yield* broker.purge("journal", journal)
        assert.strictEqual((yield* Effect.flip(broker.append(message(journal, `${journal}-2`), end)))._tag, "Conflict")
        assert.isAbove(yield* broker.append(message(journal, `${journal}-3`), 0), end)
      })
    )

    it.effect("tells those who listen at that moment, in order, and nobody else", () =>
      Effect.gen(function* () {
        const broker = yield* Broker
        const run = freshKey()
        const at = (type: string) => s.live("session-manager", run, type)
        yield* broker.announce(at("Missed"), "0")
        const heard = yield* hearing(broker, s.lives(run), at("Ready"), 2)
        yield* broker.announce(s.live("session-manager", freshKey(), "Other"), "other")
        yield* broker.announce(at("First"), "1")
        yield* broker.announce(at("Second"), "2")
        const said = [at("First"), at("Second")].map((subject, n) => ({ subject, body: `${n + 1}` }))
        assert.deepStrictEqual(yield* Fiber.join(heard), said)
      })
    )

    it.effect("answers queries while somebody serves them", () =>
      Effect.gen(function* () {
        const broker = yield* Broker
        const ask = broker.request(s.api("reviewer", "echo"), `{"x":1}`)
        yield* Effect.gen(function* () {
          yield* broker.serve("reviewer", {
            [s.api("reviewer", "echo")]: (request) => Effect.succeed(`got ${request}`)
          })
          assert.strictEqual(yield* ask, `got {"x":1}`)
          const large = "y".repeat(2_000_000)
          yield* broker.serve("workspace", { [s.api("workspace", "large")]: () => Effect.succeed(large) })
          assert.strictEqual(yield* broker.request(s.api("workspace", "large"), ""), large)
          // It cannot be compressed to what fits a message.
          const noise = randomBytes(1_000_000).toString("base64")
          yield* broker.serve("gate", { [s.api("gate", "noise")]: () => Effect.succeed(noise) })
          assert.strictEqual(yield* broker.request(s.api("gate", "noise"), ""), noise)
        }).pipe(Effect.scoped)
        assert.strictEqual(yield* ask, undefined)
      })
    )
  })
