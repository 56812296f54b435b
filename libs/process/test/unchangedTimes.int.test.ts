/** A command can change what a file holds, and all its times stay as they were: on tmpfs, when it writes through memory. */
import { execFileSync, spawnSync } from "node:child_process"
import { existsSync, lstatSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { changedFiles, readFileStates } from "../src/fileStates.ts"
import { differencesFromCommit } from "../src/nestedTrees.ts"

const memory = "/dev/shm"
const canRun = existsSync(memory) && spawnSync("python3", ["--version"]).status === 0

const program = `import mmap, os, sys
content = sys.stdin.buffer.read()
file = os.open(sys.argv[1], os.O_RDWR)
with mmap.mmap(file, 0) as pages:
    pages[0]
    pages[:] = content`

/** Of the same length. */
const writeThroughMemory = (path: string, content: string | Buffer) => {
  const before = lstatSync(path, { bigint: true })
  execFileSync("python3", ["-c", program, path], { input: content })
  const after = lstatSync(path, { bigint: true })
  assert.strictEqual(after.ctimeNs, before.ctimeNs, "no time tells")
  assert.strictEqual(after.mtimeNs, before.mtimeNs, "no time tells")
}

const honest = "exit 1\n"
const forged = "exit 0\n"

const repository = Effect.acquireRelease(
  Effect.sync(() => {
    const root = mkdtempSync(join(memory, "reprise-times-"))
    const git = (...args: ReadonlyArray<string>) =>
      execFileSync("git", ["-C", root, "-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...args], {
        encoding: "utf8",
        stdio: "pipe"
      }).trim()
    git("init", "--quiet")
    mkdirSync(join(root, "tools"))
    writeFileSync(join(root, "tools/check.sh"), honest)
    writeFileSync(join(root, ".git/info/exclude"), ".reprise/\n")
    git("add", ".")
    git("commit", "--quiet", "-m", "begin")
    return { root, git, folder: join(root, ".reprise/trees/one") }
  }),
  ({ root }) => Effect.sync(() => rmSync(root, { recursive: true, force: true }))
)

/** By the clock of the file system, so that a file that is there is older than whoever reads it. */
const untilNextSecond = async (folder: string) => {
  const secondOf = () => {
    writeFileSync(join(folder, "clock"), "")
    return Math.floor(lstatSync(join(folder, "clock")).ctimeMs / 1000)
  }
  for (const begun = secondOf(); secondOf() <= begun + 1; ) await new Promise(setImmediate)
}

describe.skipIf(!canRun)("content that changes while all times stay", () => {
  it.effect("is found in a file of the commit, by its content", () =>
    Effect.gen(function* () {
      const { folder, git, root } = yield* repository
      const compare = (when: "before" | "after") =>
        differencesFromCommit(root, git("rev-parse", "HEAD"), {
          folder,
          gitDirectory: join(root, ".git"),
          when,
          removeEmpty: () => Effect.succeed([])
        })
      yield* Effect.promise(() => untilNextSecond(join(root, ".git")))
      assert.deepStrictEqual(yield* compare("before"), [])
      writeThroughMemory(join(root, "tools/check.sh"), forged)
      assert.deepStrictEqual(yield* compare("after"), [{ path: "tools/check.sh" }])
    })
  )

  it.effect("is found in a file that was not committed before the run", () =>
    Effect.gen(function* () {
      const { root } = yield* repository
      const before = yield* Effect.promise(() => readFileStates(root, ["tools/check.sh"]))
      writeThroughMemory(join(root, "tools/check.sh"), forged)
      const changed = yield* Effect.promise(() => changedFiles(root, ["tools/check.sh"], before))
      assert.deepStrictEqual(
        changed.map(({ how, path }) => ({ how, path })),
        [{ how: "changed", path: "tools/check.sh" }]
      )
    })
  )
})
