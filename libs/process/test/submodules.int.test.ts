/** A repository inside of another: its configuration may be an agent's, so nothing that it names may run outside. */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { changedSubmodules } from "../src/submodules.ts"
import { type ChangesRequest, workingTreeChanges } from "../src/workingTree.ts"

const repository = Effect.acquireRelease(
  Effect.sync(() => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "reprise-submodules-")))
    const git = (directory: string, ...args: ReadonlyArray<string>) =>
      execFileSync(
        "git",
        ["-C", join(root, directory), "-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...args],
        { encoding: "utf8", stdio: "pipe" }
      ).trim()
    const write = (path: string, text = "x\n") => {
      mkdirSync(join(root, path, ".."), { recursive: true })
      writeFileSync(join(root, path), text)
    }
    /** A repository with one commit. */
    const make = (directory: string) => {
      mkdirSync(join(root, directory), { recursive: true })
      git(directory, "init", "-q", "-b", "main")
      write(join(directory, "file"))
      git(directory, "add", "-A")
      git(directory, "commit", "-q", "-m", "Begin")
    }
    make("work")
    make("work/inner")
    make("work/inner/innermost")
    git("work/inner", "add", "innermost")
    git("work/inner", "commit", "-q", "-m", "Another")
    git("work", "add", "inner")
    git("work", "commit", "-q", "-m", "Inner")
    const changes = (request: Partial<ChangesRequest> = {}) =>
      Effect.map(workingTreeChanges(join(root, "work"), { untracked: "normal", ...request }), (found) =>
        found._tag === "failed" ? assert.fail(found.stderr) : found.changes.map(({ code, path }) => `${code} ${path}`)
      )
    return { root, git, write, changes }
  }),
  ({ root }) => Effect.sync(() => rmSync(root, { recursive: true, force: true }))
)

describe("the changes of a working tree", () => {
  it.live("run nothing that a repository inside of it names", () =>
    Effect.gen(function* () {
      const { changes, git, root, write } = yield* repository
      const ran = join(root, "ran")
      const program = `touch ${ran}; cat`
      write("work/inner/.gitattributes", "* filter=x diff=x\n")
      git("work/inner", "add", "-A")
      git("work/inner", "commit", "-q", "-m", "Attributes")
      git("work", "commit", "-q", "-a", "-m", "Attributes")
      const settings = ["filter.x.clean", "filter.x.process", "core.fsmonitor", "diff.x.textconv", "diff.external"]
      for (const name of settings) git("work/inner", "config", name, program)
      const later = new Date(Date.now() + 5000)
      utimesSync(join(root, "work/inner/file"), later, later)
      assert.deepStrictEqual(yield* changes(), [])
      write("work/inner/file", "changed\n")
      assert.deepStrictEqual(yield* changes(), [" M inner"])
      assert.isFalse(existsSync(ran), "a program of the inner repository ran")
      // What keeps it from running is the way in which git is asked.
      execFileSync("git", ["-C", join(root, "work"), "status", "--ignore-submodules=none"])
      assert.isTrue(existsSync(ran))
    })
  )

  it.live("are those inside of submodules too, of whatever kind and however deep", () =>
    Effect.gen(function* () {
      const { changes, git, root, write } = yield* repository
      const none = () => Effect.map(changes(), (found) => assert.deepStrictEqual(found, []))
      yield* none()
      write("work/inner/new")
      assert.deepStrictEqual(yield* changes(), [" M inner"])
      assert.deepStrictEqual(yield* changes({ below: "elsewhere/" }), [])
      rmSync(join(root, "work/inner/new"))
      yield* none()
      write("work/inner/file", "staged\n")
      git("work/inner", "add", "file")
      write("work/inner/file")
      assert.deepStrictEqual(yield* changes(), [" M inner"])
      git("work/inner", "reset", "-q", "--hard")
      yield* none()
      write("work/inner/innermost/file", "deep\n")
      assert.deepStrictEqual(yield* changes(), [" M inner"])
      git("work/inner/innermost", "commit", "-q", "-a", "-m", "Deep")
      assert.deepStrictEqual(yield* changes(), [" M inner"])
      git("work/inner", "commit", "-q", "-a", "-m", "Deep")
      assert.deepStrictEqual(yield* changes(), [" M inner"])
      git("work", "commit", "-q", "-a", "-m", "Deep")
      yield* none()
    })
  )

  it.live("leave out what a submodule ignores, and one that is not checked out", () =>
    Effect.gen(function* () {
      const { changes, root, write } = yield* repository
      write("work/inner/.git/info/exclude", "*.log\n")
      write("work/inner/a.log")
      assert.deepStrictEqual(yield* changes(), [])
      rmSync(join(root, "work/inner"), { recursive: true })
      mkdirSync(join(root, "work/inner"))
      assert.deepStrictEqual(yield* changes(), [])
    })
  )

  it.live("name a submodule that git cannot read", () =>
    Effect.gen(function* () {
      const { changes, root, write } = yield* repository
      rmSync(join(root, "work/inner/.git/objects"), { recursive: true })
      assert.deepStrictEqual(yield* changes(), [" M inner"])
      write("work/inner/.git/index", "no index\n")
      assert.deepStrictEqual(yield* changes(), [" M inner"])
    })
  )

  it.live("are not looked for in more submodules than anybody has, however deep they are", () =>
    Effect.gen(function* () {
      const { root } = yield* repository
      const look = (most: number) => changedSubmodules(join(root, "work"), new Set(), {}, most)
      assert.deepStrictEqual(yield* look(2), [])
      const failure = yield* Effect.flip(look(1))
      assert.strictEqual(failure.reason, "output")
      assert.include(failure.message, "more than 1 submodules with files")
    })
  )
})
