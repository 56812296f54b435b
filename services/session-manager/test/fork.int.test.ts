import { execFileSync } from "node:child_process"
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { forked, forkId, script } from "./support/forked.ts"
import { inMemory } from "./support/stage.ts"

const branch = `reprise/${forkId}`

/** A repository with a commit, in which an agent makes another between its turns. */
const repository = Effect.acquireRelease(
  Effect.sync(() => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "reprise-fork-")))
    const git = (...args: ReadonlyArray<string>) =>
      execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...args], {
        cwd: root,
        encoding: "utf8"
      }).trim()
    const commit = (name: string) => {
      writeFileSync(join(root, name), "x\n")
      git("add", "-A")
      git("commit", "-q", "-m", `Write ${name}`)
    }
    git("init", "-q", "-b", "main")
    commit("first.txt")
    const between = Effect.sync(() => commit("second.txt"))
    return { root, git, between, first: git("rev-parse", "HEAD"), directory: join(root, "worktrees", forkId) }
  }),
  ({ root }) => Effect.sync(() => rmSync(root, { recursive: true, force: true }))
)

describe("the worktree of a fork", () => {
  it.live("is at the commit at which its turn left the directory, on a branch of its own", () =>
    Effect.gen(function* () {
      const { between, directory, first, git, root } = yield* repository
      const worktree = { directory, repository: root }
      const { fork, original } = yield* forked(1, { directory: root, between, worktree })
      yield* fork.awaitEvent("TurnCompleted")
      assert.deepStrictEqual(
        original.pastTurns?.map(({ commit }) => commit),
        [first, git("rev-parse", "main")]
      )
      assert.strictEqual(git("rev-parse", branch), first)
      assert.isTrue(existsSync(join(directory, "first.txt")))
      assert.isFalse(existsSync(join(directory, "second.txt")))
    }).pipe(Effect.provide(inMemory(script)))
  )

  it.live("is made again where a crash has left it half made", () =>
    Effect.gen(function* () {
      const { between, directory, first, git, root } = yield* repository
      const before = Effect.sync(() => {
        git("worktree", "add", "-q", "--no-checkout", "--lock", "-b", branch, directory, first)
      })
      const worktree = { directory, repository: root }
      const { fork } = yield* forked(1, { directory: root, between, before, worktree })
      yield* fork.awaitEvent("TurnCompleted")
      assert.isTrue(existsSync(join(directory, "first.txt")))
      assert.strictEqual(git("-C", directory, "status", "--porcelain"), "")
    }).pipe(Effect.provide(inMemory(script)))
  )

  it.live("is not made at a commit with another content of a filter that git's configuration runs", () =>
    Effect.gen(function* () {
      const { between, directory, git, root } = yield* repository
      git("config", "filter.x.smudge", "sh ./first.txt")
      // Nobody but the user can have changed the tree.
      const changed = Effect.andThen(
        between,
        Effect.sync(() => writeFileSync(join(root, "first.txt"), "exec cat\n"))
      )
      const { fork } = yield* forked(1, {
        directory: root,
        between: changed,
        worktree: { directory, repository: root }
      })
      const { reason } = yield* fork.awaitEvent("SessionFailed")
      assert.include(reason, "has another first.txt")
      assert.isFalse(existsSync(directory))
    }).pipe(Effect.provide(inMemory(script)))
  )

  it.live("is not made where git knows no commit of the turn: the fork fails and says what to do", () =>
    Effect.gen(function* () {
      const { directory, root } = yield* repository
      const { fork } = yield* forked(1, { worktree: { directory, repository: root } })
      const { reason } = yield* fork.awaitEvent("SessionFailed")
      assert.include(reason, "no commit is known: fork it without --worktree.")
    }).pipe(Effect.provide(inMemory(script)))
  )
})
