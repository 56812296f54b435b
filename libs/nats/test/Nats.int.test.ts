import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, describe, it, layer } from "@effect/vitest"
import type { Msg } from "@nats-io/transport-node"
import { freeze } from "@reprise/process/testing"
import { Effect, Exit, Fiber, Redacted, Scope, Stream } from "effect"
import { attempt } from "../src/BrokerError.ts"
import { connectionTo, EmbeddedServer, ensureStreams, Nats, publish } from "../src/index.ts"
import { asOperator, brokerLayer, killHard, stateDirectory, temporaryDirectory, waitUntil } from "./harness.ts"

const live = { excludeTestServices: true, timeout: "15 minutes" } as const

describe("connecting", () => {
  it.live("names the address where nothing answers, without its password", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Nats.make({ url: "nats://me:secret@127.0.0.1:9", name: "test" }))
      assert.strictEqual(error._tag, "BrokerUnreachable")
      assert.include(error.message, "nats://127.0.0.1:9")
      assert.notInclude(error.message, "secret")
    }).pipe(Effect.scoped)
  )

  it.live.each([undefined, "not credentials"])("names a credentials file that cannot be used: %j", (text) =>
    Effect.gen(function* () {
      const path = join(yield* temporaryDirectory, "service.creds")
      if (text !== undefined) yield* Effect.promise(() => writeFile(path, text))
      const credentials = { _tag: "CredsFile", path } as const
      const error = yield* Effect.flip(Nats.make({ url: "nats://127.0.0.1:9", name: "test", credentials }))
      assert.strictEqual(error._tag, "CredentialsUnreadable")
      assert.include(error.message, path)
    }).pipe(Effect.scoped)
  )
})

layer(brokerLayer(), live)("a connection", (it) => {
  it.effect("is refused without the right password", () =>
    Effect.gen(function* () {
      const { endpoint } = yield* EmbeddedServer
      const wrong = { _tag: "UserPassword", user: endpoint.user, password: Redacted.make("guess") } as const
      for (const credentials of [wrong, { _tag: "Anonymous" } as const]) {
        const error = yield* Effect.flip(Nats.make({ url: endpoint.url, name: "stranger", credentials }))
        assert.strictEqual(error._tag, "BrokerRefused")
      }
    })
  )

  it.effect("receives replies under its own prefix", () =>
    Effect.gen(function* () {
      const { nc } = yield* Nats
      nc.subscribe("question", { callback: (_, message) => void message.respond(message.reply ?? "") })
      const reply = yield* Effect.promise(() => nc.request("question"))
      assert.match(reply.string(), /^_INBOX_operator\./)
    })
  )

  it.effect("gives each of many requests its own answer, and says at once that nobody answers", () =>
    Effect.gen(function* () {
      const { nc } = yield* Nats
      nc.subscribe("echo", { callback: (_, message) => void message.respond(message.data) })
      const texts = Array.from({ length: 200 }, (_, n) => `text ${n}`)
      const answers = yield* Effect.promise(() => Promise.all(texts.map((text) => nc.request("echo", text))))
      assert.deepStrictEqual(
        answers.map((answer) => answer.string()),
        texts
      )
      const ask = attempt("ask", () => nc.request("nobody", "", { timeout: 3_600_000 }))
      assert.strictEqual((yield* Effect.flip(ask))._tag, "NoStreamStores")
    })
  )

  it.effect("fails a request without an answer in its time, whatever comes later, and one on a closed connection", () =>
    Effect.gen(function* () {
      const { endpoint } = yield* EmbeddedServer
      const scope = yield* Scope.make()
      const { nc } = yield* Nats.make(connectionTo(endpoint, { name: "short" })).pipe(Scope.provide(scope))
      const held: Array<Msg> = []
      nc.subscribe("slow", { callback: (_, message) => void held.push(message) })
      const ask = (timeout: number) => attempt("ask", () => nc.request("slow", "", { timeout }))
      assert.strictEqual((yield* Effect.flip(ask(50)))._tag, "RequestTimedOut")
      const answered = yield* Effect.forkChild(ask(3_600_000), { startImmediately: true })
      yield* waitUntil(Effect.sync(() => held.length === 2))
      for (const [n, message] of held.entries()) message.respond(`answer ${n}`)
      assert.strictEqual((yield* Fiber.join(answered)).string(), "answer 1")
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual((yield* Effect.flip(ask(3_600_000)))._tag, "ConnectionClosed")
    })
  )

  it.effect("closes with its scope", () =>
    Effect.gen(function* () {
      const { endpoint } = yield* EmbeddedServer
      const scope = yield* Scope.make()
      const { nc, status } = yield* Nats.make(connectionTo(endpoint, { name: "short" })).pipe(Scope.provide(scope))
      assert.strictEqual(yield* status, "connected")
      yield* Scope.close(scope, Exit.void)
      assert.isTrue(nc.isClosed())
    })
  )

  it.effect("reports when it is cut and when it is back, and stores a message in flight once", () =>
    Effect.gen(function* () {
      const nats = yield* Nats
      const server = yield* EmbeddedServer
      yield* ensureStreams("reprise")
      const seen: Array<string> = []
      yield* nats.statusChanges.pipe(
        Stream.runForEach((status) => Effect.sync(() => seen.push(status))),
        Effect.forkScoped({ startImmediately: true })
      )
      yield* killHard(yield* server.pid)
      const write = (id: number) =>
        publish({ stream: "REPRISE_EVENTS", subject: "reprise.event.gate.r1.X", id: String(id), body: "x" })
      yield* Effect.forEach([1, 2, 3, 4, 5], write, { concurrency: "unbounded" })
      yield* waitUntil(Effect.sync(() => seen.at(-1) === "connected" && seen.includes("disconnected")))
      const info = yield* Effect.promise(() => nats.jsm.streams.info("REPRISE_EVENTS"))
      assert.strictEqual(info.state.messages, 5)
    }).pipe(Effect.scoped)
  )
})

it.live("fails a request in flight when it is cut, and sends one that is made meanwhile once it is up again", () =>
  Effect.gen(function* () {
    const server = yield* EmbeddedServer.make({ directory: yield* stateDirectory })
    const connection = asOperator(server)
    // Nothing here may wait for the limit of a request: the test would end before.
    const nats = yield* Nats.make({ ...connection, requestTimeoutMs: 3_600_000 })
    yield* ensureStreams("reprise").pipe(Effect.provideService(Nats, nats))
    const pid = yield* server.pid
    const info = attempt("ask", () => nats.jsm.streams.info("REPRISE_EVENTS"))
    yield* freeze(pid)
    const inFlight = yield* Effect.forkChild(Effect.flip(info), { startImmediately: true })
    yield* killHard(pid)
    assert.strictEqual((yield* Fiber.join(inFlight))._tag, "RequestTimedOut")
    assert.strictEqual((yield* info).config.name, "REPRISE_EVENTS")
  }).pipe(Effect.scoped)
)

layer(brokerLayer(), live)("publish", (it) => {
  const subject = "reprise.journal.run.r1"
  const entry = (id: string, expectedLastSubjectSequence: number) =>
    publish({ stream: "REPRISE_JOURNAL", subject, id, body: id, headers: { "ce-id": id }, expectedLastSubjectSequence })

  it.effect("stores a message once, whoever repeats it", () =>
    Effect.gen(function* () {
      const { jsm } = yield* Nats
      yield* ensureStreams("reprise")
      assert.deepStrictEqual(yield* entry("a", 0), { sequence: 1, duplicate: false })
      assert.deepStrictEqual(yield* entry("a", 0), { sequence: 1, duplicate: true })
      const message = yield* Effect.promise(() => jsm.streams.getMessage("REPRISE_JOURNAL", { seq: 1 }))
      assert.strictEqual(message?.header.get("ce-id"), "a")
    })
  )

  it.effect("lets one of two writers with the same expectation append", () =>
    Effect.gen(function* () {
      yield* ensureStreams("reprise")
      const results = yield* Effect.all([Effect.result(entry("b1", 1)), Effect.result(entry("b2", 1))], {
        concurrency: 2
      })
      const failures = results.flatMap((result) => (result._tag === "Failure" ? [result.failure._tag] : []))
      assert.deepStrictEqual(failures, ["WrongSequence"])
    })
  )

  it.effect("recognizes its own message in a conflict after the duplicate window has passed", () =>
    Effect.gen(function* () {
      const { jsm } = yield* Nats
      const stream = "SHORT"
      yield* Effect.promise(() =>
        jsm.streams.add({ name: stream, subjects: ["short.*"], duplicate_window: 100_000_000, max_bytes: 1_000_000 })
      )
      const write = (id: string) =>
        publish({ stream, subject: "short.x", id, body: "", expectedLastSubjectSequence: 0 })
      const first = yield* write("mine")
      assert.strictEqual((yield* Effect.flip(write("other")))._tag, "WrongSequence")
      // A later id that is forgotten tells that the first one is.
      const probe = publish({ stream, subject: "short.probe", id: "probe", body: "" })
      yield* probe
      yield* waitUntil(Effect.map(probe, ({ duplicate }) => !duplicate))
      assert.deepStrictEqual(yield* write("mine"), { sequence: first.sequence, duplicate: true })
    })
  )
})

it.live("fails a write whose outcome stays unknown, and closes, when the server never comes back", () =>
  Effect.gen(function* () {
    const directory = yield* stateDirectory
    const server = yield* EmbeddedServer.make({ directory, maxRestarts: 0 })
    const nats = yield* Nats.make(asOperator(server))
    const write = publish(
      { stream: "REPRISE_JOURNAL", subject: "reprise.journal.run.r1", id: "1", body: "" },
      { attemptTimeoutMs: 50, giveUpAfterMs: 200 }
    ).pipe(Effect.provideService(Nats, nats))
    yield* killHard(yield* server.pid)
    yield* Effect.flip(server.failure)
    assert.strictEqual((yield* Effect.flip(write))._tag, "RequestTimedOut")
  }).pipe(Effect.scoped)
)
