// @module-tag long
/** What only a real server can do to an actor: die, freeze, fill up, forget; and what kill -9 does to a process. */
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { assert, it } from "@effect/vitest"
import { JetStreamApiError } from "@nats-io/jetstream"
import { errors, nanos } from "@nats-io/transport-node"
import { Nats, type NatsShape } from "@reprise/nats"
import { anyHost, subjects } from "@reprise/protocol"
import { Context, Effect, Exit, Fiber, Layer, Schedule } from "effect"
import {
  ActorConfig,
  actorLayer,
  Broker,
  drain,
  JetStreamBroker,
  Messenger,
  WorkFault,
  workerLayer
} from "../src/index.ts"
import { CounterWork, counter, toCounter } from "./support/Counter.ts"
import { jetStream, testSettings } from "./support/jetStream.ts"
import { eventsSoFar, followNow, journalOf, sendAll, show } from "./support/observe.ts"
import { onServer, ownServerWorld, waitUntil } from "./support/systems.ts"

const s = subjects("t")
const count = actorLayer(counter)
const upTo = (n: number) => Array.from({ length: n }, (_, i) => i + 1)

const digger = (url: string) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      spawn(process.execPath, [fileURLToPath(new URL("./fixtures/digger.ts", import.meta.url)), url], {
        stdio: ["ignore", "pipe", "inherit"]
      })
    ),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )

onServer("an actor on a broker in trouble", () => {
  it.live("the server is killed under 300 commands and comes back: each is decided once, and no event is missing", () =>
    Effect.gen(function* () {
      const world = yield* ownServerWorld()
      const one = yield* world.start(count)
      yield* Effect.gen(function* () {
        const seen = yield* followNow({ runId: "a", types: ["StepStarted", "RunCompleted"] })
        const messenger = yield* Messenger
        const sending = yield* Effect.forkChild(
          Effect.forEach(
            upTo(300),
            (n) => messenger.send(toCounter("a").Add({ n }), { id: `a-${n}` }).pipe(Effect.eventually),
            { discard: true }
          )
        )
        for (let deaths = 1; deaths <= 3; deaths++) {
          yield* waitUntil(Effect.sync(() => seen.length > deaths * 40))
          yield* world.server.kill
          yield* world.server.start
        }
        yield* Fiber.join(sending)
        yield* drain
        const journal = yield* journalOf("a")
        assert.deepStrictEqual(
          journal.map(({ input }) => input.id).sort(),
          upTo(300)
            .map((n) => `a-${n}`)
            .sort()
        )
        const events = yield* eventsSoFar(["StepStarted"])
        assert.strictEqual(events.length, 300)
        const followed = () => seen.filter(({ event }) => event._tag === "StepStarted")
        yield* waitUntil(Effect.sync(() => followed().length >= 300))
        assert.deepStrictEqual(
          followed().map(({ meta }) => meta.id),
          events.map(({ meta }) => meta.id)
        )
      }).pipe(Effect.provide(one))
    }).pipe(Effect.scoped)
  )

  it.live(
    "the answer to an append is lost and the server no longer knows the message's id: read back, it is mine",
    () =>
      Effect.gen(function* () {
        const world = yield* ownServerWorld()
        const watching = yield* world.start()
        const answers: Array<string> = []
        /** The first answer to a journal write is lost; the repeat comes when the window of duplicates is over. */
        const deaf = (nats: NatsShape): NatsShape => {
          const publish: NatsShape["js"]["publish"] = async (subject, body, options) => {
            if (!subject.startsWith("t.journal.")) return nats.js.publish(subject, body, options)
            const stored = await nats.js.publish(subject, body, options).catch((error: unknown) => {
              answers.push(error instanceof JetStreamApiError ? `error ${error.code}` : String(error))
              throw error
            })
            answers.push("stored")
            if (answers.length > 1) return stored
            await nats.jsm.streams.update(s.streams.journal, { duplicate_window: nanos(100) })
            for (const started = Date.now(); Date.now() - started < 500; ) await nats.nc.flush()
            throw new errors.TimeoutError()
          }
          return { ...nats, js: Object.assign(Object.create(nats.js), { publish }) }
        }
        const broker = JetStreamBroker.layer.pipe(
          Layer.provide(
            Layer.effect(Nats, Effect.map(Nats, deaf)).pipe(
              Layer.provide(Nats.layer({ url: world.server.url, name: "deaf" }))
            )
          ),
          Layer.provideMerge(ActorConfig.layer(testSettings))
        )
        const two = yield* Layer.build(count.pipe(Layer.provideMerge(Messenger.layer), Layer.provideMerge(broker)))
        yield* Effect.gen(function* () {
          yield* sendAll("a", [1, 2])
          yield* drain
          assert.deepStrictEqual(
            (yield* journalOf("a")).map(({ input }) => input.id),
            ["a-1", "a-2"]
          )
          assert.deepStrictEqual(yield* show("a"), { total: 3, steps: 2 })
        }).pipe(Effect.provide(two))
        assert.strictEqual((yield* eventsSoFar(["StepStarted"]).pipe(Effect.provide(watching))).length, 2)
      }).pipe(Effect.scoped)
  )

  it.live("a store whose opening got no answer is opened by whoever needs it next", () =>
    Effect.gen(function* () {
      const { server } = yield* ownServerWorld()
      yield* Effect.scoped(Layer.build(jetStream(server.url)))
      const hasty = JetStreamBroker.layer.pipe(
        Layer.provide(Nats.layer({ url: server.url, name: "hasty", requestTimeoutMs: 1_000 })),
        Layer.provideMerge(ActorConfig.layer(testSettings))
      )
      // A busy machine may take longer than the hasty client waits; a store that stays shut never answers.
      const patiently = Effect.retry({ schedule: Schedule.spaced("50 millis") })
      const { snapshots, transcripts } = Context.get(yield* patiently(Layer.build(Layer.fresh(hasty))), Broker)
      const large = "x".repeat(600_000)
      const uses: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
        transcripts.put("session/a", "said"),
        snapshots.put("escalation.a", large),
        snapshots.get("b")
      ]
      yield* server.cut
      for (const use of uses) assert.isTrue(Exit.isFailure(yield* Effect.exit(use)))
      yield* server.heal
      for (const use of uses) yield* patiently(use)
      assert.strictEqual((yield* patiently(snapshots.get("escalation.a")))?.value, large)
    }).pipe(Effect.scoped)
  )

  it.live("an administrator removes a consumer: it is made again and the service goes on", () =>
    Effect.gen(function* () {
      const world = yield* ownServerWorld()
      const admin = yield* Layer.build(Nats.layer({ url: world.server.url, name: "admin" }))
      const { jsm } = Context.get(admin, Nats)
      const one = yield* world.start(count)
      yield* Effect.gen(function* () {
        yield* sendAll("a", [1])
        yield* drain
        yield* Effect.promise(() => jsm.consumers.delete(s.streams.commands, "commands-gate"))
        yield* sendAll("a", [2])
        yield* waitUntil(Effect.map(journalOf("a"), (journal) => journal.length === 2))
        yield* drain
        assert.deepStrictEqual(yield* show("a"), { total: 3, steps: 2 })
      }).pipe(Effect.provide(one))
    }).pipe(Effect.scoped)
  )
})

onServer("a process that is killed with -9", () => {
  it.live("leaves its work to the next one, which takes it up", () =>
    Effect.gen(function* () {
      const world = yield* ownServerWorld()
      const one = yield* world.start(count)
      yield* Messenger.use((messenger) => messenger.send(toCounter("a").AskForWork({ name: "x" }))).pipe(
        Effect.provide(one)
      )
      const child = yield* digger(world.server.url)
      const began = yield* Effect.promise(async () => {
        for await (const line of createInterface({ input: child.stdout })) return line
        return ""
      })
      assert.strictEqual(began, "began x")
      child.kill("SIGKILL")
      const deliveries: Array<number> = []
      const finisher = workerLayer({
        service: "gate",
        host: anyHost,
        work: CounterWork,
        handle: ({ name }, { delivery, id, key }) => {
          deliveries.push(delivery)
          return Messenger.use((messenger) =>
            messenger.send(toCounter(key).Finish({ name }), { id: `${id}.done` })
          ).pipe(
            Effect.asVoid,
            Effect.mapError((cause) => new WorkFault({ operation: "report", cause }))
          )
        }
      })
      const two = yield* world.start(finisher)
      yield* Effect.gen(function* () {
        yield* drain
        assert.isAtLeast(deliveries[0] ?? 0, 2)
        assert.deepStrictEqual(
          (yield* journalOf("a")).map(({ input }) => input.type),
          ["AskForWork", "Finish"]
        )
      }).pipe(Effect.provide(two))
    }).pipe(Effect.scoped)
  )
})

onServer("timers and histories", () => {
  it.live("a timer survives a restart of the server and of the process", () =>
    Effect.gen(function* () {
      const world = yield* ownServerWorld()
      const dueAt = new Date(Date.now() + 2_000).toISOString()
      yield* Effect.gen(function* () {
        const one = yield* world.start(count)
        yield* Messenger.use((messenger) => messenger.send(toCounter("a").AddLater({ n: 7, dueAt }))).pipe(
          Effect.andThen(drain),
          Effect.provide(one)
        )
      }).pipe(Effect.scoped)
      yield* world.server.restart
      const two = yield* world.start(count)
      yield* Effect.gen(function* () {
        yield* waitUntil(Effect.map(journalOf("a"), (journal) => journal.length === 2))
        assert.isAtLeast(Date.now(), Date.parse(dueAt))
        yield* drain
        assert.deepStrictEqual(yield* show("a"), { total: 7, steps: 2 })
      }).pipe(Effect.provide(two))
    }).pipe(Effect.scoped)
  )
})
