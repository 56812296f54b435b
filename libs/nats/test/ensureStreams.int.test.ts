import { assert, layer } from "@effect/vitest"
import { RetentionPolicy, StorageType } from "@nats-io/jetstream"
import { Kvm } from "@nats-io/kv"
import { Objm } from "@nats-io/obj"
import { Duration, Effect } from "effect"
import {
  EmbeddedServer,
  ensureConsumer,
  ensureStreams,
  health,
  Nats,
  publish,
  smallestStorageBytes,
  statisticsOverSystem,
  systemConnectionTo
} from "../src/index.ts"
import { openTemplate } from "../src/testing.ts"
import { brokerLayer } from "./harness.ts"

const storageBytes = smallestStorageBytes
const live = { excludeTestServices: true, timeout: "15 minutes" } as const
const outcomes = (streams: ReadonlyArray<{ outcome: string }>) => [...new Set(streams.map(({ outcome }) => outcome))]

layer(brokerLayer(), live)("ensureStreams", (it) => {
  it.effect("creates everything once, and changes nothing the second time", () =>
    Effect.gen(function* () {
      const first = yield* ensureStreams("once", { storageBytes })
      assert.strictEqual(first.length, 9)
      assert.deepStrictEqual(outcomes(first), ["created"])
      assert.deepStrictEqual(outcomes(yield* ensureStreams("once", { storageBytes })), ["unchanged"])
      assert.deepStrictEqual(outcomes(yield* ensureStreams("once", { storageBytes: 2 * storageBytes })), ["unchanged"])
    })
  )

  it.effect("lets several services create the same streams at once", () =>
    Effect.gen(function* () {
      const once = ensureStreams("together", { storageBytes })
      const all = yield* Effect.all([once, once, once, once], { concurrency: "unbounded" })
      for (const streams of all) assert.strictEqual(streams.length, 9)
    })
  )

  it.effect("makes buckets that the key-value and object store clients open", () =>
    Effect.gen(function* () {
      const { js } = yield* Nats
      yield* ensureStreams("opened", { storageBytes })
      const value = yield* Effect.promise(async () => {
        const views = await new Kvm(js).open("opened_views")
        await views.put("runs.r1", "1")
        await views.put("runs.r1", "2")
        return (await views.get("runs.r1"))?.string()
      })
      assert.strictEqual(value, "2")
      const archived = yield* Effect.promise(async () => {
        const transcripts = await new Objm(js).open("opened_transcripts")
        await transcripts.putBlob({ name: "s1" }, new TextEncoder().encode("said"))
        const blob = await transcripts.getBlob("s1")
        return blob === null ? "" : new TextDecoder().decode(blob)
      })
      assert.strictEqual(archived, "said")
    })
  )

  it.effect("updates the settings of existing streams and keeps their messages", () =>
    Effect.gen(function* () {
      const { jsm } = yield* Nats
      yield* ensureStreams("grown", { storageBytes })
      const message = { stream: "GROWN_EVENTS", subject: "grown.event.gate.r1.X", id: "1", body: "kept" }
      yield* publish(message)
      const ages = { events: Duration.hours(1) }
      const again = yield* ensureStreams("grown", { storageBytes: 2 * storageBytes, resize: true, ages })
      assert.deepStrictEqual(outcomes(again), ["updated"])
      const info = yield* Effect.promise(() => jsm.streams.info("GROWN_EVENTS"))
      assert.strictEqual(info.config.max_age, 3600 * 1e9)
      assert.strictEqual(info.config.max_bytes, Math.floor((2 * storageBytes * 20) / 100))
      assert.strictEqual(info.state.messages, 1)
    })
  )

  it.effect.each([
    { field: "storage", config: { storage: StorageType.Memory, max_bytes: 1_000_000 } },
    { field: "retention", config: { retention: RetentionPolicy.Workqueue, max_bytes: 1_000_000 } }
  ])("refuses a stream whose $field cannot be changed, naming what was wanted and found", ({ config, field }) =>
    Effect.gen(function* () {
      const { jsm } = yield* Nats
      const prefix = `other-${field}`
      const stream = `OTHER-${field.toUpperCase()}_TIMERS`
      yield* Effect.promise(() => jsm.streams.add({ name: stream, subjects: [`${prefix}.timer.*.*`], ...config }))
      const error = yield* Effect.flip(ensureStreams(prefix, { storageBytes }))
      assert.strictEqual(error._tag, "StreamMismatch")
      assert.include(error.message, stream)
      assert.include(error.message, `has ${field} ${Object.values(config)[0]}`)
    })
  )

  it.effect("does not take over the streams of a prefix that differs only in case", () =>
    Effect.gen(function* () {
      yield* ensureStreams("Tenant", { storageBytes })
      const error = yield* Effect.flip(ensureStreams("tenant", { storageBytes }))
      assert.strictEqual(error._tag, "StreamMismatch")
      assert.include(error.message, "has subjects")
    })
  )

  it.effect("reports that another stream covers the subjects, or that the server has no cluster or no space", () =>
    Effect.gen(function* () {
      const { jsm } = yield* Nats
      yield* Effect.promise(() => jsm.streams.add({ name: "GREEDY", subjects: ["greedy.>"], max_bytes: 1_000_000 }))
      const overlap = yield* Effect.flip(ensureStreams("greedy", { storageBytes }))
      assert.strictEqual(overlap._tag, "StreamRefused")
      assert.include(overlap.message, "another prefix")
      const replicas = yield* Effect.flip(ensureStreams("copies", { storageBytes, replicas: 3 }))
      assert.strictEqual(replicas._tag, "StreamRefused")
      assert.include(replicas.message, "one replica")
      const space = yield* Effect.flip(ensureStreams("huge", { storageBytes: 1e15 }))
      assert.strictEqual(space._tag, "StreamRefused")
      assert.include(space.message, "storage")
    })
  )

  it.effect("refuses a prefix that could not be part of a subject", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(ensureStreams("a.>"))
      assert.strictEqual(error._tag, "InvalidPrefix")
    })
  )

  it.effect("stores nothing that is not a subject of the protocol", () =>
    Effect.gen(function* () {
      yield* ensureStreams("strict", { storageBytes })
      const odd = { stream: "STRICT_COMMANDS", subject: "strict.command.gate.a.b", id: "1", body: "" }
      assert.strictEqual((yield* Effect.flip(publish(odd)))._tag, "NoStreamStores")
    })
  )

  it.effect("refuses messages when its quota is full, and accepts them again when there is space", () =>
    Effect.gen(function* () {
      const { jsm } = yield* Nats
      yield* ensureStreams("full", { storageBytes })
      const body = new Uint8Array(900_000)
      const send = (id: number) =>
        publish({ stream: "FULL_TIMERS", subject: "full.timer.gate.t1", id: String(id), body })
      const error = yield* Effect.flip(Effect.forEach([1, 2, 3, 4, 5], send))
      assert.strictEqual(error._tag, "StreamFull")
      yield* Effect.promise(() => jsm.streams.purge("FULL_TIMERS"))
      // publish sends again what the broker acknowledges late, so the second try may be the duplicate of the first.
      yield* send(6)
      const { state } = yield* Effect.promise(() => jsm.streams.info("FULL_TIMERS"))
      assert.strictEqual(state.messages, 1)
    })
  )
})

const smallAccount = openTemplate.replace("jetstream: enabled", `jetstream { max_file: ${2 * storageBytes} }`)

layer(brokerLayer({ template: smallAccount }), live)("on a small account", (it) => {
  it.effect("divides what the account has left, and reports when that is too little", () =>
    Effect.gen(function* () {
      const { jsm } = yield* Nats
      const foreign = 50_000_000
      yield* Effect.promise(() => jsm.streams.add({ name: "FOREIGN", subjects: ["foreign"], max_bytes: foreign }))
      const streams = yield* ensureStreams("fitting")
      const total = streams.reduce((sum, { maxBytes }) => sum + maxBytes, 0)
      assert.isAtMost(total, 2 * storageBytes - foreign)
      assert.isAbove(total, 2 * storageBytes - foreign - 10)
      const error = yield* Effect.flip(ensureStreams("late"))
      assert.strictEqual(error._tag, "StorageTooSmall")
    })
  )
})

layer(brokerLayer(), live)("ensureConsumer", (it) => {
  const options = {
    stream: "REPRISE_COMMANDS",
    durable: "gate",
    filterSubjects: ["reprise.command.gate.*"],
    ackWaitMs: 30_000,
    maxDeliver: 5,
    maxAckPending: 100
  }

  it.effect("is created once, and updated without losing its position", () =>
    Effect.gen(function* () {
      const { js } = yield* Nats
      yield* ensureStreams("reprise")
      yield* ensureConsumer(options)
      yield* publish({ stream: options.stream, subject: "reprise.command.gate.e1", id: "1", body: "a" })
      yield* Effect.promise(async () => {
        const consumer = await js.consumers.get(options.stream, options.durable)
        const message = await consumer.next()
        assert.isTrue(await message?.ackAck())
      })
      const info = yield* ensureConsumer({ ...options, maxDeliver: 7 })
      assert.strictEqual(info.config.max_deliver, 7)
      assert.strictEqual(info.ack_floor.stream_seq, 1)
    })
  )

  it.effect("changes from one filter to several and back", () =>
    Effect.gen(function* () {
      yield* ensureStreams("reprise")
      const one = { ...options, durable: "several" }
      const two = { ...one, filterSubjects: ["reprise.command.gate.*", "reprise.command.reviewer.*"] }
      yield* ensureConsumer(one)
      assert.deepStrictEqual((yield* ensureConsumer(two)).config.filter_subjects, two.filterSubjects)
      assert.strictEqual((yield* ensureConsumer(one)).config.filter_subject, "reprise.command.gate.*")
    })
  )

  it.effect("cannot change where it started", () =>
    Effect.gen(function* () {
      yield* ensureStreams("reprise")
      yield* ensureConsumer({ ...options, durable: "started" })
      const error = yield* Effect.flip(ensureConsumer({ ...options, durable: "started", deliverPolicy: "new" }))
      assert.strictEqual(error._tag, "ConsumerMismatch")
      assert.include(error.message, "has deliver_policy all, but Reprise needs new")
    })
  )
})

layer(brokerLayer(), live)("health", (it) => {
  it.effect("shows missing and changed streams, the version and when the server writes to disk", () =>
    Effect.gen(function* () {
      const { endpoint } = yield* EmbeddedServer
      const { jsm } = yield* Nats
      const system = yield* Nats.make(systemConnectionTo(endpoint, "test"))
      const look = health({ prefix: "reprise", statistics: statisticsOverSystem(system.nc) })

      const empty = yield* look
      assert.strictEqual(empty.serverVersion, endpoint.serverVersion)
      assert.deepStrictEqual(new Set(empty.streams.map(({ state }) => state)), new Set(["missing"]))
      yield* ensureStreams("reprise")
      yield* Effect.promise(() => jsm.streams.update("REPRISE_DEAD", { max_msg_size: 100 }))
      const report = yield* look
      const different = report.streams.filter(({ state }) => state !== "ok")
      assert.deepStrictEqual(
        different.map(({ differences, name }) => ({ name, differences })),
        [{ name: "REPRISE_DEAD", differences: [{ field: "max_msg_size", wanted: "1048576", found: "100" }] }]
      )
      assert.deepStrictEqual(report.sync, { _tag: "Always" })
      assert.deepStrictEqual(report.notGuaranteed, [])
    })
  )

  it.effect("reports that it is unknown when the server writes to disk, if no statistics say so", () =>
    Effect.gen(function* () {
      const report = yield* health({ prefix: "reprise" })
      assert.deepStrictEqual(report.sync, { _tag: "Unknown" })
      assert.strictEqual(report.notGuaranteed.length, 1)
    })
  )

  it.effect("asks the next server if one is killed while it is asked", () =>
    Effect.gen(function* () {
      const server = yield* EmbeddedServer
      // It is dead before it can answer, and this process does not know it yet.
      process.kill(yield* server.pid, "SIGKILL")
      const { serverVersion } = yield* health({ prefix: "reprise" })
      assert.strictEqual(serverVersion, server.endpoint.serverVersion)
    })
  )
})
