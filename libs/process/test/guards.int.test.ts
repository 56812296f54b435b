import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Schedule } from "effect"
import { type Mark, markedProcesses, startGuarded, variableOf } from "../src/index.ts"

const until = <A>(effect: Effect.Effect<A>, holds: (value: A) => boolean) =>
  effect.pipe(Effect.repeat({ until: holds, schedule: Schedule.spaced("5 millis") }))

const place = Effect.gen(function* () {
  const directory = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "reprise-guard-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  )
  const mark: Mark = `REPRISE_TEST=${directory}`
  const read = Effect.sync(() => readFileSync(join(directory, "log"), { encoding: "utf8", flag: "a+" }))
  return { directory, mark, log: join(directory, "log"), read }
})

describe("a guard", () => {
  for (const kind of ["guarded", "piped"]) {
    it.live(`ends a ${kind} program, and a child in a session of its own, when their owner is killed`, () =>
      Effect.gen(function* () {
        const { directory, mark, read } = yield* place
        const owner = spawn(process.execPath, [join(import.meta.dirname, "owner.ts"), kind, mark, directory])
        yield* Effect.addFinalizer(() => Effect.sync(() => owner.kill("SIGKILL")))
        yield* until(read, (text) => text.includes("started"))
        yield* until(markedProcesses(mark), (pids) => pids.length >= 3)
        owner.kill("SIGKILL")
        yield* until(markedProcesses(mark), (pids) => pids.length === 0)
      }).pipe(Effect.scoped)
    )
  }

  it.live("ends what a program left behind before it reports that it ended, with the program's exit code", () =>
    Effect.gen(function* () {
      const { directory, log, mark } = yield* place
      const environment = { PATH: process.env["PATH"] ?? "", ...variableOf(mark) }
      const args = ["-c", "setsid sleep 3600 & exit 7"]
      const { exited } = yield* startGuarded({ program: "/bin/sh", args, environment, log, directory })
      assert.strictEqual(yield* Deferred.await(exited), 7)
      assert.deepStrictEqual(yield* markedProcesses(mark), [])
    }).pipe(Effect.scoped)
  )

  it.live("ends what it started itself, and nothing of a second start", () =>
    Effect.gen(function* () {
      const { directory, log, mark } = yield* place
      const environment = { PATH: process.env["PATH"] ?? "", ...variableOf(mark) }
      const start = startGuarded({ program: "/bin/sleep", args: ["3600"], environment, log, directory })
      const first = yield* start
      const second = yield* start
      yield* first.stop
      assert.include(yield* markedProcesses(mark), second.pid)
      yield* second.stop
      assert.deepStrictEqual(yield* markedProcesses(mark), [])
    }).pipe(Effect.scoped)
  )
})
