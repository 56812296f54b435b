// @module-tag long
/** The disk of `.reprise` gets full, or read-only: a file system of its own. */
import { execFileSync, spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import { heldInMidTurn, plan } from "../harness/modelScript.ts"
import { makeWorld, type World } from "../harness/World.ts"

const mountAt = (folder: string): string | undefined => {
  const { status, stderr } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=64m,mode=700", "tmpfs", folder])
  return status === 0 ? undefined : String(stderr ?? "mount is not installed").trim()
}
const unmount = (folder: string) => execFileSync("umount", ["--lazy", folder])

/** Why no file system can be mounted here, if so. */
const obstacle = (() => {
  const folder = mkdtempSync(join(tmpdir(), "reprise-mount-"))
  try {
    const why = mountAt(folder)
    if (why === undefined) unmount(folder)
    return why
  } finally {
    rmSync(folder, { recursive: true })
  }
})()

/** Gives `.reprise` a file system of 64 MB. */
const smallDisk = (world: World) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const folder = join(world.root, ".reprise")
      mkdirSync(folder, { recursive: true })
      mountAt(folder)
      return folder
    }),
    (folder) => Effect.sync(() => unmount(folder))
  )

const filler = (disk: string) => join(disk, "filler")

const fill = (disk: string) =>
  Effect.sync(() => {
    for (let size = 1 << 20; size >= 1; size >>= 1) {
      try {
        while (true) writeFileSync(filler(disk), Buffer.alloc(size), { flag: "a" })
      } catch {}
    }
  })

/** Leaves no byte on the disk, and takes what others free, until `free` makes room. */
const keepFull = Effect.fn("keepFull")(function* (disk: string) {
  yield* fill(disk)
  const filling = yield* Effect.forkScoped(Effect.repeat(fill(disk), Schedule.spaced("1 millis")))
  return {
    free: Effect.andThen(
      Fiber.interrupt(filling),
      Effect.sync(() => rmSync(filler(disk)))
    )
  }
})

const remount = (disk: string, how: "ro" | "rw") =>
  Effect.sync(() => execFileSync("mount", ["-o", `remount,${how}`, disk]))

describe.skipIf(obstacle !== undefined)(`a disk${obstacle === undefined ? "" : ` (skipped: ${obstacle})`}`, () => {
  it.live(
    "that is read-only is named, with the next step and exit code 3, and the same commands work once it is not",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld({ openCode: "shared", plan: plan("One"), script: heldInMidTurn })
        const disk = yield* smallDisk(world)
        mkdirSync(join(disk, "nats", "jetstream"), { recursive: true })
        assert.strictEqual((yield* world.reprise("trust", "--state")).code, 0)
        yield* remount(disk, "ro")
        for (const command of [["status"], ["run", "PLAN.md"]]) {
          const refused = yield* world.reprise(...command)
          assert.strictEqual(refused.code, 3, refused.stderr)
          assert.match(
            refused.stderr,
            /cannot keep its state in \S+ \(its file system is read-only\)\. Make it writable/
          )
        }
        yield* remount(disk, "rw")
        yield* world.model.release("mid-turn")
        assert.strictEqual((yield* world.reprise("status")).code, 0)
        const ended = yield* world.reprise("run", "PLAN.md")
        assert.strictEqual(ended.code, 0, ended.stderr)
      }).pipe(Effect.scoped)
  )

  it.live(
    "that is full ends a run with a sentence and exit code 3, and the same command completes it once there is room",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld({ openCode: "shared", plan: plan("One"), script: heldInMidTurn })
        const disk = yield* smallDisk(world)
        const run = yield* world.start("run", "PLAN.md")
        yield* world.model.awaitHeld("mid-turn")
        const full = yield* keepFull(disk)
        yield* world.model.release("mid-turn")
        const ended = yield* run.ended
        assert.strictEqual(ended.code, 3, ended.stderr)
        assert.match(ended.stderr, /no space left on the disk of \S+\.reprise.*no data is lost\.\nThen run/)
        const status = yield* world.reprise("status")
        assert.strictEqual(status.code, 3, status.stderr)
        assert.match(status.stderr, /no space left on the disk/)
        yield* full.free
        const again = yield* world.reprise("run", "PLAN.md")
        assert.strictEqual(again.code, 0, again.stderr)
        assert.strictEqual(world.git("log", "--format=%s"), "Write it\nStart")
        assert.strictEqual((yield* world.runs).length, 1)
      }).pipe(Effect.scoped)
  )
})
