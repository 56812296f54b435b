/** What a consumer of a service does around its own handling: it opens, counts, settles and sets aside deliveries. */
import { assert, describe, it } from "@effect/vitest"
import { encodeMeta, Host, Key, type MessageMeta, RunId, subjects } from "@reprise/protocol"
import { Effect, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { ActorConfig } from "../src/ActorConfig.ts"
import { Broker, type ConsumerSpec, type Delivered, Sequence } from "../src/broker/Broker.ts"
import { Conflict } from "../src/broker/faults.ts"
import { MemoryBroker } from "../src/index.ts"
import { makeReceiver, type Opened } from "../src/runtime/Receiver.ts"
import { counted } from "./support/counted.ts"
import { commandsOf, sendSome } from "./support/deliveries.ts"
import { noteAnnotations, noteLog } from "./support/noteLog.ts"
import { deadLettersOf } from "./support/observe.ts"

const s = subjects("t")
const a = Key.make("a")
const meta: MessageMeta = { id: "m1", type: "Add", source: "/x/y", subject: "r1", time: "2026-01-01T00:00:00.000Z" }

const story = <A, E>(test: Effect.Effect<A, E, Broker | Scope.Scope>) =>
  test.pipe(Effect.provide(MemoryBroker.layer), Effect.scoped)

const receiving = Effect.fnUntraced(function* (
  stream: ConsumerSpec["stream"] = "commands",
  service = "gate",
  maxDeliveries = 2
) {
  const broker = yield* Broker
  const config = ActorConfig.layer({ prefix: "t", host: Host.make("h1") })
  const settings = yield* Effect.provide(ActorConfig, config)
  const spec = commandsOf(a, { stream })
  return yield* makeReceiver({ service, spec, broker, subjects: s, settings, maxDeliveries })
})

/** One delivery; `settled` gets how it was settled. */
const delivered = (settled: Array<string>, more: Partial<Delivered> = {}, headers = encodeMeta(meta)): Delivered => ({
  subject: s.command("gate", a),
  sequence: Sequence(1),
  header: (name) => headers[name] ?? "",
  body: Effect.succeed("{}"),
  deliveryCount: 1,
  ack: () => settled.push("ack"),
  nak: (delayMs) => settled.push(`nak ${delayMs}`),
  working: () => undefined,
  ...more
})

const letters = deadLettersOf("a")
const reasons = Effect.map(letters, (all) => all.map(({ reason }) => reason))

describe("a delivery", () => {
  it.effect("is opened with the key of its actor, or the run of an event", () =>
    story(
      Effect.gen(function* () {
        const commands = yield* receiving()
        const command = delivered([])
        assert.deepStrictEqual<unknown>(commands.accept(command), { delivery: command, meta, key: "a" })
        const events = yield* receiving("events")
        const event = delivered([], { subject: s.event("gate", RunId.make("r1"), "RunPaused") })
        assert.deepStrictEqual<unknown>(events.accept(event), { delivery: event, meta, key: "r1" })
      })
    )
  )

  it.effect("that is under way is not opened again", () =>
    story(
      Effect.gen(function* () {
        const { accept } = yield* receiving()
        assert.isDefined(accept(delivered([])))
        assert.isUndefined(accept(delivered([], { deliveryCount: 2 })))
      })
    )
  )

  const { "ce-type": _, ...untyped } = encodeMeta(meta)
  it.effect.each([
    [
      "whose subject names no actor",
      "t.command.gate.no key",
      encodeMeta(meta),
      /^The subject does not end in an actor/
    ],
    ["whose envelope cannot be read", s.command("gate", a), untyped, /^The envelope is wrong: it has no header ce-type/]
  ] as const)("%s is a dead letter, and nobody has to handle it", ([, subject, headers, reason]) => {
    const lines: Array<Readonly<Record<string, unknown>>> = []
    return story(
      Effect.gen(function* () {
        const settled: Array<string> = []
        const { accept } = yield* receiving()
        assert.isUndefined(accept(delivered(settled, { subject }, headers)))
        yield* TestClock.adjust("1 second")
        const [letter] = yield* Broker.use((broker) => broker.read("dead", s.deads(), 0))
        assert.strictEqual(letter?.header("ce-source"), "/gate/h1")
        assert.match(JSON.parse(yield* letter?.body ?? Effect.succeed("{}")).reason, reason)
        assert.deepStrictEqual(settled, ["ack"])
        assert.deepStrictEqual(lines, [{ service: "gate" }])
      }).pipe(Effect.provide(noteAnnotations(lines)))
    )
  })

  it.effect("is taken when it can be read, and no other", () =>
    story(
      Effect.gen(function* () {
        const taken: Array<Opened> = []
        const { ack, receive } = yield* receiving()
        yield* receive((opened) => {
          taken.push(opened)
          ack(opened.delivery)
        })
        const broker = yield* Broker
        yield* broker.publish([{ subject: s.command("gate", a), body: "{}", meta: { ...meta, type: "no type" } }])
        yield* sendSome(broker, a, 2)
        yield* broker.settled
        assert.deepStrictEqual(
          taken.map(({ meta: { id } }) => id),
          ["a-0", "a-1"]
        )
        assert.lengthOf(yield* letters, 1)
      })
    )
  )
})

describe("a delivery that is settled", () => {
  it.effect("is acknowledged when its work is done", () =>
    story(
      Effect.gen(function* () {
        const settled: Array<string> = []
        const { settle } = yield* receiving()
        yield* settle(delivered(settled), Effect.void)
        assert.deepStrictEqual(settled, ["ack"])
      })
    )
  )

  it.effect("is a dead letter when its work throws, and says which service it was", () =>
    story(
      Effect.gen(function* () {
        const settled: Array<string> = []
        const { settle } = yield* receiving()
        yield* settle(delivered(settled), Effect.die(new Error("oh")))
        assert.deepStrictEqual(settled, ["ack"])
        const [reason] = yield* reasons
        assert.match(reason ?? "", /^gate threw: Error: oh/)
      })
    )
  )

  it.effect(
    "is handed back after lost races, which do not count, and set aside when it ends its process too often",
    () => {
      const lines: Array<string> = []
      return story(
        Effect.gen(function* () {
          const settled: Array<string> = []
          const { settle } = yield* receiving()
          const race = Effect.fail(new Conflict({ subject: "x", expected: 1 }))
          for (const deliveryCount of [1, 2, 3, 4, 5]) yield* settle(delivered(settled, { deliveryCount }), race)
          assert.deepStrictEqual(settled, Array(5).fill("nak 100"))
          assert.deepStrictEqual(lines, Array(5).fill("handed back after too many lost races"))
          // Delivered twice without an end: the process that had it was killed.
          yield* settle(delivered(settled, { deliveryCount: 8 }), race)
          assert.deepStrictEqual(settled.slice(5), ["ack"])
          assert.deepStrictEqual(yield* reasons, ["It was delivered 8 times and never finished."])
        }).pipe(Effect.provide(noteLog(lines)))
      )
    }
  )
})

describe("what a consumer counts", () => {
  /** A process counts for as long as it lives. */
  const freshName = () => `service-${crypto.randomUUID()}`
  const again = (service: string, stream: string) =>
    counted("reprise_redeliveries_total").get(`service=${service},stream=${stream}`)?.[0]

  it.effect("is what was delivered again, without timers, which are until they are due", () =>
    story(
      Effect.gen(function* () {
        const service = freshName()
        const [commands, timers] = [yield* receiving("commands", service), yield* receiving("timers", service)]
        for (const { accept } of [commands, timers]) {
          accept(delivered([]))
          assert.isUndefined(again(service, "commands"))
        }
        for (const deliveryCount of [2, 3]) {
          commands.accept(delivered([], { deliveryCount }))
          timers.accept(delivered([], { deliveryCount }))
        }
        assert.deepStrictEqual([again(service, "commands"), again(service, "timers")], [2, undefined])
      })
    )
  )
})
