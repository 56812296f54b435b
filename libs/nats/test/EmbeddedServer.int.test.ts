import { chmod, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { freeze } from "@reprise/process/testing"
import { Effect, Exit, Fiber, Option, Redacted, Scope } from "effect"
import {
  type EmbeddedOptions,
  EmbeddedServer,
  ensureConsumer,
  ensureStreams,
  locateServer,
  Nats,
  publish,
  readEndpoint,
  statisticsOverHttp
} from "../src/index.ts"
import {
  asOperator,
  isAlive,
  killHard,
  parentOf,
  processGroupOf,
  stateDirectory,
  temporaryDirectory,
  waitUntil
} from "./harness.ts"

const modeOf = (path: string) => Effect.promise(async () => ((await stat(path)).mode & 0o777).toString(8))
const commandLineOf = (pid: number) => Effect.promise(() => readFile(`/proc/${pid}/cmdline`, "utf8"))

const started = Effect.fnUntraced(function* (options: Partial<EmbeddedOptions> = {}) {
  const directory = yield* stateDirectory
  const server = yield* EmbeddedServer.make({ directory, ...options })
  return { directory, server, nats: yield* Nats.make(asOperator(server)) }
})

const journal = (id: string) => publish({ stream: "REPRISE_JOURNAL", subject: "reprise.journal.run.r1", id, body: id })

describe("starting", () => {
  it.live("opens a loopback port that only processes of the same user can find", () =>
    Effect.gen(function* () {
      const { directory, server } = yield* started()
      const { endpoint } = server
      assert.match(endpoint.url, /^nats:\/\/127\.0\.0\.1:\d+$/)
      assert.strictEqual(endpoint.ownerPid, process.pid)
      assert.strictEqual(yield* modeOf(directory), "700")
      for (const file of ["endpoint.json", "owner.lock", "version.json", "nats/server.conf", "nats/server.log"]) {
        assert.strictEqual(yield* modeOf(join(directory, file)), "600", file)
      }
      const found = Option.getOrThrow(yield* readEndpoint(directory))
      assert.strictEqual(found.url, endpoint.url)
      assert.strictEqual(Redacted.value(found.password), Redacted.value(endpoint.password))
    }).pipe(Effect.scoped)
  )

  it.live("goes on when its server is killed before it listens", () =>
    Effect.gen(function* () {
      const { path, version } = yield* locateServer()
      const folder = yield* temporaryDirectory
      const dying = join(folder, "dying")
      const program = `#!/bin/sh\nif mkdir '${dying}' 2>/dev/null; then kill -KILL $$; fi\nexec '${path}' "$@"\n`
      yield* Effect.promise(() => writeFile(join(folder, "server"), program, { mode: 0o755 }))
      const { nats } = yield* started({ server: { path: join(folder, "server"), version, origin: "path" } })
      assert.strictEqual(yield* nats.status, "connected")
      yield* Effect.promise(() => stat(dying))
    }).pipe(Effect.scoped)
  )

  it.live("goes on when its server is killed while it makes its streams and consumers", () =>
    Effect.gen(function* () {
      const { nats, server } = yield* started()
      const consumer = {
        stream: "REPRISE_COMMANDS",
        durable: "gate",
        filterSubjects: ["reprise.command.gate.*"],
        ackWaitMs: 5_000,
        maxDeliver: -1,
        maxAckPending: 64
      }
      for (const [round, make] of [ensureStreams("reprise"), ensureConsumer(consumer)].entries()) {
        yield* freeze(yield* server.pid)
        const made = yield* Effect.forkChild(
          Effect.provideService(Effect.asVoid<unknown, unknown, Nats>(make), Nats, nats),
          {
            startImmediately: true
          }
        )
        yield* killHard(yield* server.pid)
        yield* Fiber.join(made)
        // The next server answers before its owner knows its process.
        yield* Effect.repeat(server.restarts, { until: (count) => count > round })
      }
    }).pipe(Effect.scoped)
  )

  it.live("shows no password in any command line or log", () =>
    Effect.gen(function* () {
      const { directory, server } = yield* started()
      const pid = yield* server.pid
      const shown = [
        yield* commandLineOf(pid),
        yield* commandLineOf(yield* parentOf(pid)),
        yield* Effect.promise(() => readFile(join(directory, "nats/server.log"), "utf8")),
        JSON.stringify(server.endpoint),
        String(server.endpoint)
      ]
      const { password, system } = server.endpoint
      for (const text of shown) {
        assert.notInclude(text, Redacted.value(password))
        assert.notInclude(text, Redacted.value(system.password))
      }
    }).pipe(Effect.scoped)
  )

  it.live("keeps Ctrl-C from the server, so that it stops last", () =>
    Effect.gen(function* () {
      const { server } = yield* started()
      const group = yield* processGroupOf(yield* server.pid)
      assert.notStrictEqual(group, yield* processGroupOf(process.pid))
      assert.strictEqual(group, yield* parentOf(yield* server.pid))
    }).pipe(Effect.scoped)
  )

  it.live("closes a directory that others could read, and keeps it out of commits", () =>
    Effect.gen(function* () {
      const directory = yield* stateDirectory
      yield* Effect.promise(() => mkdir(directory).then(() => chmod(directory, 0o755)))
      yield* EmbeddedServer.make({ directory })
      assert.strictEqual(yield* modeOf(directory), "700")
      assert.strictEqual(yield* Effect.promise(() => readFile(join(directory, ".gitignore"), "utf8")), "*\n")
    }).pipe(Effect.scoped)
  )

  it.live("leaves no server, endpoint or password behind when it stops, and finds its data again", () =>
    Effect.gen(function* () {
      const directory = yield* stateDirectory
      const run = Effect.gen(function* () {
        const server = yield* EmbeddedServer.make({ directory })
        return { server, nats: yield* Nats.make(asOperator(server)) }
      })
      const scope = yield* Scope.make()
      const first = yield* run.pipe(Scope.provide(scope))
      yield* ensureStreams("reprise").pipe(Effect.provideService(Nats, first.nats))
      yield* journal("1").pipe(Effect.provideService(Nats, first.nats))
      const pid = yield* first.server.pid
      yield* Scope.close(scope, Exit.void)
      assert.isFalse(isAlive(pid))
      assert.notInclude(yield* Effect.promise(() => readdir(directory)), "endpoint.json")
      assert.notInclude(yield* Effect.promise(() => readdir(join(directory, "nats"))), "server.conf")

      const second = yield* run
      const { state } = yield* Effect.promise(() => second.nats.jsm.streams.info("REPRISE_JOURNAL"))
      assert.strictEqual(state.messages, 1)
      assert.notStrictEqual(
        Redacted.value(second.server.endpoint.password),
        Redacted.value(first.server.endpoint.password)
      )
    }).pipe(Effect.scoped)
  )

  it.live("keeps stored data when its streams get less storage than before", () =>
    Effect.gen(function* () {
      const directory = yield* stateDirectory
      const stored = (storageBytes: number) =>
        Effect.gen(function* () {
          const server = yield* EmbeddedServer.make({ directory, storageBytes })
          assert.strictEqual(server.storageBytes, storageBytes)
          const nats = yield* Nats.make(asOperator(server))
          const resized = ensureStreams("reprise", { storageBytes: server.storageBytes, resize: true })
          return yield* resized.pipe(Effect.andThen(journal(`at ${storageBytes}`)), Effect.provideService(Nats, nats))
        }).pipe(Effect.scoped)
      assert.strictEqual((yield* stored(2 * 1024 ** 3)).sequence, 1)
      assert.strictEqual((yield* stored(1024 ** 3)).sequence, 2)
      assert.strictEqual((yield* stored(8 * 1024 ** 3)).sequence, 3)
    }).pipe(Effect.scoped)
  )

  it.live("offers statistics over HTTP only when asked", () =>
    Effect.gen(function* () {
      const quiet = yield* started()
      assert.isUndefined(quiet.server.endpoint.monitorUrl)
      const { server } = yield* started({ monitoring: true })
      const statistics = yield* statisticsOverHttp(server.endpoint.monitorUrl ?? "")
      assert.strictEqual(statistics.version, server.endpoint.serverVersion)
    }).pipe(Effect.scoped)
  )
})

describe("a server that dies", () => {
  it.live("is restarted at the same address with its data, and its clients reconnect", () =>
    Effect.gen(function* () {
      const { directory, nats, server } = yield* started()
      const { body } = yield* Effect.gen(function* () {
        yield* ensureStreams("reprise")
        yield* journal("before")
        const killed = yield* server.pid
        yield* killHard(killed)
        yield* journal("after")
        // Clients may be back before the owner has seen that its new server is ready.
        yield* waitUntil(Effect.map(server.restarts, (restarts) => restarts === 1))
        assert.notStrictEqual(yield* server.pid, killed)
        const last = yield* Effect.promise(() => nats.jsm.streams.getMessage("REPRISE_JOURNAL", { seq: 1 }))
        return { body: last?.string() }
      }).pipe(Effect.provideService(Nats, nats))
      assert.strictEqual(body, "before")
      const found = Option.getOrThrow(yield* readEndpoint(directory))
      assert.strictEqual(found.url, server.endpoint.url)
      assert.strictEqual(found.pid, yield* server.pid)
    }).pipe(Effect.scoped)
  )

  it.live("is restarted when its guard is killed too, after the old server is gone", () =>
    Effect.gen(function* () {
      const { server } = yield* started()
      const first = yield* server.pid
      yield* killHard(yield* parentOf(first))
      yield* waitUntil(Effect.map(server.restarts, (restarts) => restarts === 1))
      assert.isFalse(isAlive(first))
      assert.isTrue(isAlive(yield* server.pid))
    }).pipe(Effect.scoped)
  )

  it.live("stays down and reports it when it dies too often", () =>
    Effect.gen(function* () {
      const { server } = yield* started({ maxRestarts: 1 })
      yield* killHard(yield* server.pid)
      yield* waitUntil(Effect.map(server.restarts, (restarts) => restarts === 1))
      yield* killHard(yield* server.pid)
      const error = yield* Effect.flip(server.failure)
      assert.strictEqual(error._tag, "ServerGaveUp")
      assert.include(error.message, "reprise doctor")
    }).pipe(Effect.scoped)
  )
})

describe("what prevents a start", () => {
  it.live("is a port that another program uses", () =>
    Effect.gen(function* () {
      const directory = yield* stateDirectory
      const port = yield* Effect.acquireRelease(
        Effect.callback<{ close: () => void; port: number }>((resume) => {
          const other = createServer()
          other.listen(0, "127.0.0.1", () => {
            const address = other.address()
            const taken = typeof address === "object" && address !== null ? address.port : 0
            resume(Effect.succeed({ port: taken, close: () => void other.close() }))
          })
        }),
        ({ close }) => Effect.sync(close)
      )
      const error = yield* Effect.flip(EmbeddedServer.make({ directory, port: port.port }))
      assert.strictEqual(error._tag, "PortTaken")
      assert.include(error.message, String(port.port))
    }).pipe(Effect.scoped)
  )

  it.live("is a configuration that the server refuses, whose words are in the error", () =>
    Effect.gen(function* () {
      const directory = yield* stateDirectory
      const error = yield* Effect.flip(EmbeddedServer.make({ directory, template: "no_such_setting: 1\n" }))
      assert.strictEqual(error._tag, "ServerDidNotStart")
      assert.include(error.message, "no_such_setting")
      assert.include(error.message, join(directory, "nats/server.log"))
    }).pipe(Effect.scoped)
  )

  it.live("is a directory that cannot be written", () =>
    Effect.gen(function* () {
      const directory = yield* stateDirectory
      yield* Effect.promise(() => writeFile(directory, "a file"))
      const error = yield* Effect.flip(EmbeddedServer.make({ directory }))
      assert.strictEqual(error._tag, "DirectoryUnusable")
      assert.include(error.message, directory)
      const relative = yield* Effect.flip(EmbeddedServer.make({ directory: ".reprise" }))
      assert.strictEqual(relative._tag, "DirectoryUnusable")
    }).pipe(Effect.scoped)
  )

  it.live.each([
    [JSON.stringify({ format: 2 }), "NewerFormat", "newer Reprise"],
    ["{", "DirectoryUnusable", "version.json is damaged"]
  ] as const)("is a directory whose version.json says %s", ([text, tag, words]) =>
    Effect.gen(function* () {
      const directory = yield* stateDirectory
      yield* Effect.promise(() => mkdir(directory).then(() => writeFile(join(directory, "version.json"), text)))
      const error = yield* Effect.flip(EmbeddedServer.make({ directory }))
      assert.strictEqual(error._tag, tag)
      assert.include(error.message, words)
      assert.strictEqual(yield* Effect.promise(() => readFile(join(directory, "version.json"), "utf8")), text)
    }).pipe(Effect.scoped)
  )
})

it.live.each([
  "",
  "{",
  "null",
  JSON.stringify({ version: 2 }),
  JSON.stringify({
    version: 1,
    url: "nats://broker.example:4222",
    user: "u",
    password: "p",
    system: { user: "s", password: "p" },
    pid: 1,
    serverVersion: "2.10.27",
    ownerPid: 1,
    startedAt: ""
  })
])("ignores an endpoint file that contains %j", (text) =>
  Effect.gen(function* () {
    const directory = yield* stateDirectory
    yield* Effect.promise(() => mkdir(directory).then(() => writeFile(join(directory, "endpoint.json"), text)))
    assert.isTrue(Option.isNone(yield* readEndpoint(directory)))
  }).pipe(Effect.scoped)
)
