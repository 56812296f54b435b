/** Files are known again by their content, as far as somebody wants to read it, else by what the disk says of them. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { changedFiles, readFileStates, type StateLimits } from "../src/fileStates.ts"

const limits: StateLimits = { mostFiles: 100, largestBytes: 100, mostBytes: 1_000 }

const folder = Effect.acquireRelease(
  Effect.sync(() => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "reprise-states-")))
    const write = (path: string, text: string) => {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), text)
    }
    for (const name of ["a", "b", "deep/c"]) write(`out/${name}`, "1")
    const states = (how: StateLimits = limits) => Effect.promise(() => readFileStates(root, ["out/"], undefined, how))
    return { root, write, states }
  }),
  ({ root }) => Effect.sync(() => rmSync(root, { recursive: true, force: true }))
)

describe("files that are looked at again", () => {
  it.live("are the same with the same content, whatever their times", () =>
    Effect.gen(function* () {
      const { root, states, write } = yield* folder
      const before = yield* states()
      write("out/a", "1")
      utimesSync(join(root, "out/b"), 1, 1)
      assert.deepStrictEqual(yield* Effect.promise(() => changedFiles(root, ["out/"], before, limits)), [])
    })
  )

  it.live.each([
    { name: "a file that is too large", how: { ...limits, largestBytes: 0 } },
    { name: "a file after others with enough content", how: { ...limits, mostBytes: 0 } }
  ])("are known by their time of change alone where nobody reads them: $name", ({ how }) =>
    Effect.gen(function* () {
      const { root, states, write } = yield* folder
      const before = yield* states(how)
      const changed = Effect.promise(() => changedFiles(root, ["out/"], before, how))
      assert.deepStrictEqual(yield* changed, [])
      write("out/a", "1")
      assert.deepStrictEqual(yield* changed, [{ path: "out/a", how: "changed" }])
    })
  )

  it.live("are told as new only where all were known before", () =>
    Effect.gen(function* () {
      const { root, states, write } = yield* folder
      const [all, some] = [yield* states(), yield* states({ ...limits, mostFiles: 2 })]
      assert.deepStrictEqual([all.isWhole, some.isWhole], [true, false])
      write("out/d", "1")
      const changed = (before: typeof all, how = limits) =>
        Effect.promise(() => changedFiles(root, ["out/"], before, how))
      assert.deepStrictEqual(yield* changed(all), [{ path: "out/d", how: "new" }])
      assert.deepStrictEqual(yield* changed(some), [])
      assert.deepStrictEqual(yield* changed(all, { ...limits, mostFiles: 2 }), [{ path: "out/", how: "unlisted" }])
    })
  )
})
