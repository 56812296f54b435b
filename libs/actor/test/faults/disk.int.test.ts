/** The disk under the broker: full, or failing each write. Nothing is lost, and it continues by itself or after a restart. */
import { execFileSync, spawnSync } from "node:child_process"
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { localBrokerWith, Broker as Server } from "@reprise/testing"
import { Context, Effect, Fiber, Layer } from "effect"
import { actorLayer, Broker, drain } from "../../src/index.ts"
import { counter } from "../support/Counter.ts"
import { jetStream } from "../support/jetStream.ts"
import { eventsSoFar, journalOf, sendAll, show } from "../support/observe.ts"
import { processOn } from "../support/systems.ts"

const upTo = (n: number) => Array.from({ length: n }, (_, i) => i + 1)
const storageBytes = 256 * 1024 ** 2

const mountAt = (folder: string): string | undefined => {
  const { status, stderr } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=24m,mode=700", "tmpfs", folder])
  return status === 0 ? undefined : String(stderr ?? "mount is not installed").trim()
}

/** Why no file system can be mounted here, if so. */
const mountObstacle = (() => {
  const folder = mkdtempSync(join(tmpdir(), "reprise-mount-"))
  const why = mountAt(folder)
  if (why === undefined) execFileSync("umount", ["--lazy", folder])
  rmdirSync(folder)
  return why
})()

/** Why no process can be kept from writing here, if so. */
const limitObstacle = spawnSync("prlimit", ["--version"]).status === 0 ? undefined : "prlimit is not installed"

const skipped = (obstacle: string | undefined) => (obstacle === undefined ? "" : ` (skipped: ${obstacle})`)

const smallDisk = Effect.acquireRelease(
  Effect.sync(() => {
    const folder = mkdtempSync(join(tmpdir(), "reprise-disk-"))
    mountAt(folder)
    return folder
  }),
  (folder) =>
    Effect.sync(() => {
      execFileSync("umount", ["--lazy", folder])
      rmdirSync(folder)
    })
)

const fill = (disk: string) =>
  Effect.sync(() => {
    for (let size = 1 << 20; size >= 1; size >>= 1) {
      try {
        while (true) writeFileSync(join(disk, "filler"), Buffer.alloc(size), { flag: "a" })
      } catch {}
    }
    assert.strictEqual(statfsSync(disk).bavail, 0)
  })

/** How large a file of this process may become. Every write beyond fails, as on a disk with errors. */
const limitFiles = (pid: number, bytes: number | "unlimited") =>
  Effect.sync(() => execFileSync("prlimit", ["--pid", String(pid), `--fsize=${bytes}:unlimited`]))

/** A counter on a server of its own, and what a test can see of it. */
const openCounter = Effect.fnUntraced(function* (storeDirectory?: string) {
  const options = storeDirectory === undefined ? {} : { storeDirectory }
  const server = Context.get(yield* Layer.build(localBrokerWith(options)), Server)
  const process = yield* processOn(jetStream(server.url, {}, { storageBytes, requestTimeoutMs: 2_000 }), [
    actorLayer(counter)
  ])
  return { server, process, broker: Context.get(process, Broker) }
})

/** Every command that was sent is decided once, and every event is there. */
const isWhole = (count: number) =>
  Effect.gen(function* () {
    yield* drain.pipe(Effect.eventually)
    assert.deepStrictEqual(
      (yield* journalOf("a")).map(({ input }) => input.id).toSorted(),
      upTo(count)
        .map((n) => `a-${n}`)
        .toSorted()
    )
    assert.strictEqual((yield* show("a")).steps, count)
    assert.lengthOf(yield* eventsSoFar(["StepStarted"]), count)
  })

const sendPatiently = (from: number, to: number) =>
  Effect.forEach(upTo(to).slice(from), (n) => Effect.eventually(sendAll("a", [n])), { discard: true })

describe.skipIf(mountObstacle !== undefined)(`a broker without space on its disk${skipped(mountObstacle)}`, () => {
  it.live("says so, loses nothing, and goes on when there is space", () =>
    Effect.gen(function* () {
      const disk = yield* smallDisk
      const { broker, process } = yield* openCounter(disk)
      yield* Effect.gen(function* () {
        yield* sendAll("a", upTo(5))
        yield* drain
        yield* fill(disk)
        const sending = yield* Effect.forkChild(sendPatiently(5, 25))
        assert.match((yield* broker.full).reason, /no space left|insufficient|maximum bytes|resource/i)
        yield* Effect.sync(() => rmSync(join(disk, "filler")))
        yield* Fiber.join(sending)
        yield* isWhole(25)
      }).pipe(Effect.provide(process))
    }).pipe(Effect.scoped)
  )
})

describe.skipIf(limitObstacle !== undefined)(`a broker whose disk fails each write${skipped(limitObstacle)}`, () => {
  it.live("loses nothing that it has acknowledged, and goes on when the disk works again, also after a restart", () =>
    Effect.gen(function* () {
      const { broker, process, server } = yield* openCounter()
      yield* Effect.gen(function* () {
        yield* sendAll("a", upTo(5))
        yield* drain
        yield* limitFiles(yield* server.pid, 1)
        const sending = yield* Effect.forkChild(sendPatiently(5, 25))
        assert.include((yield* broker.full).reason, "file too large")
        yield* limitFiles(yield* server.pid, "unlimited")
        yield* Fiber.join(sending)
        yield* isWhole(25)
        yield* server.kill
        yield* server.start
        yield* isWhole(25)
      }).pipe(Effect.provide(process))
    }).pipe(Effect.scoped)
  )
})
