import { mkdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Option, Scope } from "effect"
import {
  acquireOwnership,
  attach,
  connectionTo,
  EmbeddedServer,
  ensureStreams,
  hasOwner,
  Nats,
  publish,
  readEndpoint
} from "../src/index.ts"
import { asOperator, isAlive, killHard, parentOf, startOwner, stateDirectory, waitUntil } from "./harness.ts"

const firstMessage = (nats: Nats["Service"]) =>
  Effect.promise(async () => (await nats.jsm.streams.getMessage("REPRISE_JOURNAL", { seq: 1 }))?.string())

describe("a second owner", () => {
  it.live("is refused, learns where the first owner's server is, and can use it", () =>
    Effect.gen(function* () {
      const directory = yield* stateDirectory
      const owner = yield* startOwner(directory)
      const error = yield* Effect.flip(EmbeddedServer.make({ directory }))
      assert.strictEqual(error._tag, "AlreadyOwned")
      assert.include(error.message, owner.url)
      assert.include(error.message, String(owner.pid))

      const nats = yield* Nats.make(connectionTo(yield* attach(directory), { name: "client" }))
      assert.strictEqual(yield* firstMessage(nats), "written by the first owner")
    }).pipe(Effect.scoped)
  )

  it.live("is refused in the same process too, until the first owner releases the directory", () =>
    Effect.gen(function* () {
      const directory = yield* stateDirectory
      const scope = yield* Scope.make()
      yield* acquireOwnership(directory).pipe(Scope.provide(scope))
      assert.isTrue(yield* hasOwner(directory))
      assert.strictEqual((yield* Effect.flip(acquireOwnership(directory)))._tag, "AlreadyOwned")
      yield* Scope.close(scope, Exit.void)
      assert.isFalse(yield* hasOwner(directory))
      yield* acquireOwnership(directory)
    }).pipe(Effect.scoped)
  )

  it.live("is refused in a race too: one of ten simultaneous owners gets the directory", () =>
    Effect.gen(function* () {
      const directory = yield* stateDirectory
      const tries = yield* Effect.all(
        Array.from({ length: 10 }, () => Effect.result(acquireOwnership(directory))),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(tries.filter((result) => result._tag === "Success").length, 1)
    }).pipe(Effect.scoped)
  )
})

describe("an owner that is killed", () => {
  it.live("ends its server too, and the next owner finds all data", () =>
    Effect.gen(function* () {
      const directory = yield* stateDirectory
      const owner = yield* startOwner(directory)
      yield* killHard(owner.pid)
      yield* waitUntil(Effect.sync(() => !isAlive(owner.server)))

      assert.isTrue(Option.isSome(yield* readEndpoint(directory)))
      assert.strictEqual((yield* Effect.flip(attach(directory)))._tag, "NoOwner")
      const server = yield* EmbeddedServer.make({ directory })
      const nats = yield* Nats.make(asOperator(server))
      assert.strictEqual(yield* firstMessage(nats), "written by the first owner")
    }).pipe(Effect.scoped)
  )

  it.live("is succeeded at once: the next owner waits until the old server has stopped", () =>
    Effect.gen(function* () {
      const directory = yield* stateDirectory
      const owner = yield* startOwner(directory)
      yield* killHard(owner.pid)
      yield* waitUntil(Effect.map(hasOwner(directory), (owned) => !owned))
      const server = yield* EmbeddedServer.make({ directory })
      assert.isFalse(isAlive(owner.server))
      const nats = yield* Nats.make(asOperator(server))
      assert.strictEqual(yield* firstMessage(nats), "written by the first owner")
      yield* ensureStreams("reprise").pipe(Effect.provideService(Nats, nats))
      const entry = { stream: "REPRISE_JOURNAL", subject: "reprise.journal.run.r1", id: "second", body: "" }
      const stored = yield* publish({ ...entry, expectedLastSubjectSequence: 1 }).pipe(
        Effect.provideService(Nats, nats)
      )
      assert.strictEqual(stored.sequence, 2)
    }).pipe(Effect.scoped)
  )

  it.live("leaves a server if its guard is killed too, and the next owner stops it before starting its own", () =>
    Effect.gen(function* () {
      const directory = yield* stateDirectory
      const owner = yield* startOwner(directory)
      const guard = yield* parentOf(owner.server)
      // Both halves of the guard: the shell, and its subshell that waits for the end of the pipe.
      const children = yield* Effect.promise(() => readFile(`/proc/${guard}/task/${guard}/children`, "utf8"))
      const watchers = children
        .trim()
        .split(" ")
        .map(Number)
        .filter((pid) => pid !== owner.server)
      for (const pid of [...watchers, guard, owner.pid]) yield* killHard(pid)
      yield* waitUntil(Effect.map(hasOwner(directory), (owned) => !owned))
      assert.isTrue(isAlive(owner.server))

      const server = yield* EmbeddedServer.make({ directory })
      assert.isFalse(isAlive(owner.server))
      const nats = yield* Nats.make(asOperator(server))
      assert.strictEqual(yield* firstMessage(nats), "written by the first owner")
    }).pipe(Effect.scoped)
  )
})

describe("attach", () => {
  it.live("finds no owner where nothing ever ran, and creates nothing there", () =>
    Effect.gen(function* () {
      const directory = yield* stateDirectory
      assert.strictEqual((yield* Effect.flip(attach(directory)))._tag, "NoOwner")
      assert.isFalse(yield* hasOwner(directory))
    }).pipe(Effect.scoped)
  )

  it.live("ignores an endpoint file without an owner, such as one from a cloned repository", () =>
    Effect.gen(function* () {
      const directory = yield* stateDirectory
      yield* Effect.promise(async () => {
        await mkdir(directory)
        await writeFile(join(directory, "endpoint.json"), "{}")
        await writeFile(join(directory, "owner.lock"), "")
      })
      assert.strictEqual((yield* Effect.flip(attach(directory)))._tag, "NoOwner")
    }).pipe(Effect.scoped)
  )
})
