/** Three servers, whose followers can be frozen: then nothing is stored, and repeats meet what is still under way. */

import { spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, it } from "@effect/vitest"
import { freePort } from "@reprise/process"
import { freeze } from "@reprise/process/testing"
import { Data, Effect, Fiber, Schedule } from "effect"
import { locateServer, Nats, publish } from "../src/index.ts"

const stream = "CLUSTERED"
const subject = "clustered.x"

/** Starts three servers; gives their process ids by their names, and an address of each. */
const cluster = Effect.gen(function* () {
  const { path } = yield* locateServer()
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "reprise-cluster-"))),
    (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true, maxRetries: 20 }))
  )
  const names = ["a", "b", "c"]
  const ports = yield* Effect.forEach(names, () => Effect.all({ client: freePort, route: freePort }))
  const routes = ports.map(({ route }) => `nats://127.0.0.1:${route}`).join(", ")
  const pids = new Map<string, number>()
  for (const [n, name] of names.entries()) {
    const config = join(folder, `${name}.conf`)
    writeFileSync(
      config,
      `server_name: ${name}\nhost: 127.0.0.1\nport: ${ports[n]?.client}\njetstream { store_dir: "${join(folder, name)}", max_file_store: 1GB }\ncluster { name: test, host: 127.0.0.1, port: ${ports[n]?.route}, routes: [${routes}] }\n`
    )
    const child = yield* Effect.acquireRelease(
      Effect.sync(() => spawn(path, ["-c", config], { stdio: "ignore" })),
      (started) => Effect.sync(() => started.kill("SIGKILL"))
    )
    pids.set(name, child.pid ?? 0)
  }
  return { pids, url: ports.map(({ client }) => `nats://127.0.0.1:${client}`) }
})

const patiently = Effect.retry(Schedule.spaced("100 millis"))

/** The three servers do not form a cluster: one lost its port, or nats-server left one out, for good. */
class NotFormed extends Data.TaggedError("NotFormed") {}

/** A cluster with the stream, and a connection to it. Fails with `NotFormed`. */
const clusterWithStream = Effect.gen(function* () {
  const { pids, url } = yield* cluster
  const nats = yield* patiently(Nats.make({ url, name: "test" }))
  yield* patiently(
    Effect.tryPromise(() => nats.jsm.streams.add({ name: stream, subjects: [subject], num_replicas: 3 }))
  )
  return { pids, url, nats }
}).pipe(Effect.timeoutOrElse({ duration: "30 seconds", orElse: () => Effect.fail(new NotFormed()) }))

it.live("knows the place of a message that a cluster was still storing when it was repeated", () =>
  Effect.gen(function* () {
    const { pids, url, nats } = yield* clusterWithStream
    const store = (id: string, attemptTimeoutMs: number) =>
      publish({ stream, subject, id, body: id }, { attemptTimeoutMs }).pipe(Effect.provideService(Nats, nats))
    assert.deepStrictEqual(yield* store("first", 2_000), { sequence: 1, duplicate: false })

    const { cluster: placed } = yield* Effect.promise(() => nats.jsm.streams.info(stream))
    // The connection must be to the leader, or its answers would be held up too.
    const leader = placed?.leader ?? ""
    const own = yield* Nats.make({ url: url[["a", "b", "c"].indexOf(leader)] ?? "", name: "own" })
    const followers = [...pids].flatMap(([name, pid]) => (name === leader ? [] : [pid]))
    for (const pid of followers) yield* freeze(pid)
    const writing = yield* publish({ stream, subject, id: "second", body: "second" }, { attemptTimeoutMs: 100 }).pipe(
      Effect.provideService(Nats, own),
      Effect.forkChild
    )
    // The server's own answer to a repeat, which tells no place.
    const repeated = yield* Effect.tryPromise(() =>
      own.js.publish(subject, "second", { msgID: "second", timeout: 1_000 })
    ).pipe(
      Effect.map(({ duplicate, seq }) => (duplicate && seq === 0 ? "under way" : `${seq}`)),
      Effect.catch((error) => Effect.succeed(String(error.cause).includes("in process") ? "under way" : "no answer")),
      Effect.repeat({ until: (answer) => answer === "under way" })
    )
    assert.strictEqual(repeated, "under way")
    for (const pid of followers) process.kill(pid, "SIGCONT")
    assert.strictEqual((yield* Fiber.join(writing)).sequence, 2)
    const { state } = yield* Effect.promise(() => own.jsm.streams.info(stream))
    assert.strictEqual(state.messages, 2)
  }).pipe(Effect.scoped, Effect.retry({ while: (error) => error instanceof NotFormed, times: 5 }))
)
