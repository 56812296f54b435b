/** What every broker promises, as tests of a layer. */
import { randomBytes } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { Key, subjects } from "@reprise/protocol"
import { Effect, Fiber, type Layer, Result, Stream } from "effect"
import type { BrokerShape } from "../../src/broker/Broker.ts"
import { type ActorConfig, Broker } from "../../src/index.ts"
import { consumingContract } from "./consumingContract.ts"
import { commandsOf, message, pullOne } from "./deliveries.ts"
import { hearing } from "./hearing.ts"
import { storesContract } from "./storesContract.ts"
import { waitUntil } from "./systems.ts"

const s = subjects("t")
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

    consumingContract(it, freshKey)

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

    it.effect("lets a purged journal begin again, and whoever remembers its end append nothing", () =>
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
