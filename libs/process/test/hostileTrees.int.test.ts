/** What an agent can write so that a git without limits takes all memory, or goes on without end. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { faultOf, GitLimits, runGit } from "../src/index.ts"
import { hostileTrees } from "../src/testing.ts"

const repository = Effect.acquireRelease(
  Effect.sync(() => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "reprise-hostile-")))
    const root = join(folder, "repository")
    const git = (...args: ReadonlyArray<string>) => execFileSync("git", args, { cwd: folder, stdio: "pipe" })
    git("init", "--quiet", root)
    writeFileSync(join(root, "PLAN.md"), "# Plan\n")
    git("-C", root, "add", ".")
    const user = ["-c", "user.name=Test", "-c", "user.email=test@reprise.invalid"]
    git("-C", root, ...user, "commit", "--quiet", "--message", "First")
    return { folder, root }
  }),
  ({ folder }) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

const megabyte = 1024 * 1024

describe("git that is asked about what an agent wrote", () => {
  it.live.each(hostileTrees)("ends within its limits, and blames the tree, for $name", ({ ask, names, write }) =>
    Effect.gen(function* () {
      const { root } = yield* repository
      write(root)
      const limits = { largestMemoryBytes: 32 * megabyte, largestOutputBytes: 4 * megabyte, timeoutMs: 1_000 }
      const failure = yield* Effect.flip(runGit(root, ask)).pipe(Effect.provideService(GitLimits, limits))
      assert.strictEqual(faultOf(failure.reason), "tree", failure.message)
      if (names !== undefined) assert.match(failure.message, names)
    })
  )

  it.live("is ended for its memory, not for files that it only maps", () =>
    Effect.gen(function* () {
      const { root } = yield* repository
      writeFileSync(join(root, "large"), Buffer.alloc(64 * megabyte, "x"))
      const limits = { largestMemoryBytes: 32 * megabyte }
      const added = yield* runGit(root, ["add", "large"]).pipe(Effect.provideService(GitLimits, limits))
      assert.strictEqual(added.exitCode, 0, added.stderr)
    })
  )

  it.live("is said not to be installed, as without limits", () =>
    Effect.gen(function* () {
      const { root } = yield* repository
      const failure = yield* Effect.flip(runGit(root, ["status"], { environment: { PATH: "/nowhere" } }))
      assert.strictEqual(failure.reason, "not-found")
    })
  )

  it.live("names the pipe that its configuration includes, wherever it is", () =>
    Effect.gen(function* () {
      const { folder, root } = yield* repository
      execFileSync("mkfifo", [join(folder, "shared.inc")])
      execFileSync("git", ["-C", root, "config", "include.path", "../../shared.inc"])
      const failure = yield* Effect.flip(runGit(root, ["status"]))
      assert.strictEqual(failure.reason, "blocked")
      assert.include(failure.message, `${join(folder, "shared.inc")} is a named pipe.`)
    })
  )
})
