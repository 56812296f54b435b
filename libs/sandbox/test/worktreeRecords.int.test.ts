/** Records of worktrees, in a git directory that commands can write. */
import { execFileSync } from "node:child_process"
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { removeStaleRecords, removeWorkingTree } from "../src/worktreeRecords.ts"

interface Made {
  readonly common: string
  readonly documents: string
  readonly git: (...args: ReadonlyArray<string>) => string
  readonly treeAt: (name: string) => string
  readonly records: () => ReadonlyArray<string>
}

const made = Effect.acquireRelease(
  Effect.sync(() => realpathSync(mkdtempSync(join(tmpdir(), "reprise-records-")))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
).pipe(
  Effect.map((folder): Made => {
    const root = join(folder, "repository")
    const identity = ["-c", "user.name=me", "-c", "user.email=me@example.org"]
    const git: Made["git"] = (...args) =>
      execFileSync("git", [...identity, ...args], { cwd: root, encoding: "utf8", stdio: "pipe" })
    mkdirSync(join(folder, "documents/taxes"), { recursive: true })
    writeFileSync(join(folder, "documents/taxes/2025"), "mine\n")
    mkdirSync(root)
    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "first")
    const common = join(root, ".git")
    return {
      common,
      documents: join(folder, "documents"),
      git,
      treeAt: (name) => {
        git("worktree", "add", "-q", join(folder, name))
        return join(folder, name)
      },
      records: () => readdirSync(join(common, "worktrees")).sort()
    }
  })
)

const isWhole = ({ documents }: Made) => existsSync(join(documents, "taxes/2025"))

describe("records of worktrees", () => {
  it.effect("are removed where the tree is gone, unless they are locked", () =>
    Effect.gen(function* () {
      const it = yield* made
      const [, gone, locked] = ["here", "gone", "locked"].map(it.treeAt) as [string, string, string]
      it.git("worktree", "lock", locked)
      for (const tree of [gone, locked]) rmSync(tree, { recursive: true })
      yield* Effect.promise(() => removeStaleRecords(it.common))
      assert.deepStrictEqual(it.records(), ["here", "locked"])
      it.git("branch", "-D", "gone")
    }).pipe(Effect.scoped)
  )

  it.effect("that are links leave what they lead to as it is", () =>
    Effect.gen(function* () {
      const it = yield* made
      const tree = it.treeAt("gone")
      for (const name of ["evil", "evil2"]) symlinkSync(it.documents, join(it.common, "worktrees", name))
      writeFileSync(join(it.documents, "gitdir"), `${tree}/.git\n`)
      rmSync(tree, { recursive: true })
      yield* Effect.promise(() => removeStaleRecords(it.common))
      yield* Effect.promise(() => removeWorkingTree(it.common, tree))
      assert.isTrue(isWhole(it))
    }).pipe(Effect.scoped)
  )

  it.effect("are left as they are where a link stands in the place of their folder", () =>
    Effect.gen(function* () {
      const it = yield* made
      const tree = it.treeAt("gone")
      rmSync(tree, { recursive: true })
      const moved = join(it.documents, "worktrees")
      renameSync(join(it.common, "worktrees"), moved)
      symlinkSync(moved, join(it.common, "worktrees"))
      const failure = yield* Effect.promise(() => removeStaleRecords(it.common).catch(String))
      assert.match(String(failure), /was replaced while Reprise worked in it/)
      assert.deepStrictEqual(readdirSync(moved), ["gone"])
    }).pipe(Effect.scoped)
  )

  it.effect("are removed with their tree, but not where somebody has locked it", () =>
    Effect.gen(function* () {
      const it = yield* made
      const [tree, locked] = ["one", "two"].map(it.treeAt) as [string, string]
      it.git("worktree", "lock", locked)
      writeFileSync(join(tree, "unsaved"), "x")
      yield* Effect.promise(() => removeWorkingTree(it.common, tree))
      const failure = yield* Effect.promise(() => removeWorkingTree(it.common, locked).catch(String))
      assert.match(String(failure), /is locked. 'git worktree unlock/)
      assert.deepStrictEqual([existsSync(tree), existsSync(locked)], [false, true])
      assert.deepStrictEqual(it.records(), ["two"])
      yield* Effect.promise(() => removeWorkingTree(it.common, locked, { evenLocked: true }))
      assert.deepStrictEqual([existsSync(locked), it.records()], [false, []])
    }).pipe(Effect.scoped)
  )

  it.effect("that name a folder of somebody else's have nothing of it removed", () =>
    Effect.gen(function* () {
      const it = yield* made
      it.treeAt("one")
      for (const pointer of [it.documents, join(it.documents, "clone")]) {
        writeFileSync(join(it.common, "worktrees/one/gitdir"), `${pointer}/.git\n`)
        yield* Effect.promise(() => removeWorkingTree(it.common, pointer).catch(() => undefined))
        mkdirSync(join(it.documents, "clone/.git"), { recursive: true })
        mkdirSync(join(it.common, "worktrees/one"), { recursive: true })
      }
      assert.isTrue(isWhole(it))
      assert.isTrue(existsSync(join(it.documents, "clone/.git")))
      assert.deepStrictEqual(it.records(), ["one"])
    }).pipe(Effect.scoped)
  )
})
