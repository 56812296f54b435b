import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { hasPrinted, lastLines, logSize } from "../src/index.ts"

const newLog = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "reprise-log-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  ),
  (directory) => join(directory, "program.log")
)
const read = (log: string, offset = 0) => Effect.promise(() => lastLines(log, offset))

describe("the last lines of a program's log", () => {
  it.live("are those of this start, at most eight, without blank ones", () =>
    Effect.gen(function* () {
      const log = yield* newLog
      writeFileSync(log, "of an earlier start\n")
      const offset = yield* Effect.promise(() => logSize(log))
      appendFileSync(log, Array.from({ length: 10 }, (_, n) => `line ${n}\n\n`).join(""))
      assert.deepStrictEqual(
        yield* read(log, offset),
        [2, 3, 4, 5, 6, 7, 8, 9].map((n) => `line ${n}`)
      )
    }).pipe(Effect.scoped)
  )

  it.live("are read from the beginning of a log that was replaced by a shorter one", () =>
    Effect.gen(function* () {
      const log = yield* newLog
      writeFileSync(log, "new\n")
      assert.deepStrictEqual(yield* read(log, 1_000), ["new"])
    }).pipe(Effect.scoped)
  )

  it.live("are none without a log, or when nothing was written", () =>
    Effect.gen(function* () {
      const log = yield* newLog
      assert.deepStrictEqual(yield* read(log), [])
      assert.strictEqual(yield* Effect.promise(() => logSize(log)), 0)
      writeFileSync(log, "before\n")
      assert.deepStrictEqual(yield* read(log, 7), [])
    }).pipe(Effect.scoped)
  )
})

describe("a line that a program prints", () => {
  it.live("counts once it is whole, and not if an earlier start printed it", () =>
    Effect.gen(function* () {
      const log = yield* newLog
      const printed = (offset: number) => Effect.promise(() => hasPrinted(log, offset, "listening on 40"))
      assert.isFalse(yield* printed(0), "without a log")
      writeFileSync(log, "listening on 40\n")
      const offset = yield* Effect.promise(() => logSize(log))
      appendFileSync(log, "not listening on 40\nlistening on 400\nlistening on 40")
      assert.isFalse(yield* printed(offset))
      appendFileSync(log, "\nmore\n")
      assert.isTrue(yield* printed(offset))
    }).pipe(Effect.scoped)
  )
})
