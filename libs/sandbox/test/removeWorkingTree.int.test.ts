import { execFileSync } from "node:child_process"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { removeWorkingTree } from "../src/git/removeWorkingTree.ts"

const made = Effect.acquireRelease(
  Effect.sync(() => realpathSync(mkdtempSync(join(tmpdir(), "reprise-trees-")))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
).pipe(
  Effect.map((folder) => {
    const root = join(folder, "repository")
    mkdirSync(root)
    const git = (...args: ReadonlyArray<string>) =>
      execFileSync("git", ["-c", "user.name=me", "-c", "user.email=me@example.org", ...args], {
        cwd: root,
        encoding: "utf8",
        stdio: "pipe"
      })
    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "first")
    const treeAt = (name: string) => {
      git("worktree", "add", "-q", join(folder, name))
      return join(folder, name)
    }
    const remove = (tree: string, options?: { readonly evenLocked: boolean }) =>
      removeWorkingTree(root, tree, {}, options)
    return { root, git, treeAt, remove, trees: () => git("worktree", "list").trim().split("\n").length - 1 }
  })
)

describe("a worktree", () => {
  it.live("is removed with everything in it, whatever rights its folders have, and nothing that a link leads to", () =>
    Effect.gen(function* () {
      const { remove, root, treeAt, trees } = yield* made
      const tree = treeAt("one")
      mkdirSync(join(tree, "kept/deep"), { recursive: true })
      writeFileSync(join(tree, "kept/deep/unsaved"), "x")
      writeFileSync(join(root, "mine"), "x")
      symlinkSync(root, join(tree, "link"))
      for (const path of ["kept/deep", "kept"]) chmodSync(join(tree, path), 0)
      yield* remove(tree)
      assert.deepStrictEqual([existsSync(tree), trees(), existsSync(join(root, "mine"))], [false, 0, true])
    }).pipe(Effect.scoped)
  )

  it.live("stays where somebody has locked it, unless it goes all the same", () =>
    Effect.gen(function* () {
      const { git, remove, treeAt, trees } = yield* made
      const tree = treeAt("one")
      git("worktree", "lock", tree)
      const failure = yield* Effect.flip(remove(tree))
      assert.match(failure.message, /is locked. 'git worktree unlock/)
      assert.isTrue(existsSync(join(tree, ".git")))
      yield* remove(tree, { evenLocked: true })
      assert.deepStrictEqual([existsSync(tree), trees()], [false, 0])
    }).pipe(Effect.scoped)
  )

  it.live("is gone from what git keeps where its tree is gone, and what is none stays", () =>
    Effect.gen(function* () {
      const { remove, root, treeAt, trees } = yield* made
      const [tree, other] = ["one", "two"].map(treeAt) as [string, string]
      rmSync(tree, { recursive: true })
      for (const path of [tree, root, join(root, ".git")]) yield* remove(path)
      assert.deepStrictEqual([trees(), existsSync(other), existsSync(join(root, ".git/HEAD"))], [1, true, true])
    }).pipe(Effect.scoped)
  )
})
