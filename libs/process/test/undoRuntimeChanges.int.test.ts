import { execFileSync } from "node:child_process"
import { lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { undoRuntimeChanges, withoutRuntimeChanges } from "../src/index.ts"

const plain = '{"share":"disabled"}\n'
const address = '{\n  "$schema": "https://opencode.ai/config.json",'
const asOpenCodeLeavesIt = `${address}"share":"disabled"}\n`

const repository = Effect.acquireRelease(
  Effect.sync(() => {
    const root = mkdtempSync(join(tmpdir(), "reprise-undo-"))
    const git = (...args: ReadonlyArray<string>) =>
      execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@reprise.invalid", ...args], {
        cwd: root,
        encoding: "utf8"
      })
    const write = (path: string, text: string) => {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), text)
    }
    git("init", "--quiet")
    const commit = (path: string, text: string) => {
      write(path, text)
      git("add", "--all")
      git("commit", "--quiet", "--message", "Begin")
    }
    return { root, git, write, commit, read: (path: string) => readFileSync(join(root, path), "utf8") }
  }),
  ({ root }) => Effect.sync(() => rmSync(root, { recursive: true, force: true }))
)

describe("what OpenCode adds to its configuration", () => {
  for (const path of ["opencode.json", "opencode.jsonc", ".opencode/opencode.json"]) {
    it.effect(`is taken out of a tracked ${path}, which git then finds unchanged`, () =>
      Effect.gen(function* () {
        const { commit, git, read, root, write } = yield* repository
        commit(path, plain)
        write(path, asOpenCodeLeavesIt)
        assert.notStrictEqual(git("status", "--porcelain"), "")
        yield* undoRuntimeChanges(root)
        assert.deepStrictEqual([read(path), git("status", "--porcelain")], [plain, ""])
      })
    )
  }

  it.effect("is taken out where git checks files out with other line ends", () =>
    Effect.gen(function* () {
      const { commit, git, read, root, write } = yield* repository
      git("config", "core.autocrlf", "true")
      commit("opencode.json", '{\r\n"share":"disabled"}\r\n')
      write("opencode.json", `${address}\r\n"share":"disabled"}\r\n`)
      yield* undoRuntimeChanges(root)
      assert.strictEqual(read("opencode.json"), '{\r\n"share":"disabled"}\r\n')
    })
  )

  it.effect("stays where anything else was changed, where it is staged, and in a file that git does not track", () =>
    Effect.gen(function* () {
      const { commit, git, read, root, write } = yield* repository
      commit("opencode.json", plain)
      const changed = `${address}"share":"manual"}\n`
      write("opencode.json", changed)
      write("opencode.jsonc", asOpenCodeLeavesIt)
      yield* undoRuntimeChanges(root)
      assert.deepStrictEqual([read("opencode.json"), read("opencode.jsonc")], [changed, asOpenCodeLeavesIt])
      write("opencode.json", asOpenCodeLeavesIt)
      git("add", "opencode.json")
      yield* undoRuntimeChanges(root)
      assert.strictEqual(read("opencode.json"), asOpenCodeLeavesIt, "somebody wants it")
    })
  )

  it.effect("is not looked for behind a link, and nothing fails where there is no repository", () =>
    Effect.gen(function* () {
      const { commit, read, root, write } = yield* repository
      commit("opencode.json", plain)
      write("elsewhere.json", asOpenCodeLeavesIt)
      rmSync(join(root, "opencode.json"))
      symlinkSync("elsewhere.json", join(root, "opencode.json"))
      yield* undoRuntimeChanges(root)
      assert.isTrue(lstatSync(join(root, "opencode.json")).isSymbolicLink())
      assert.strictEqual(read("elsewhere.json"), asOpenCodeLeavesIt)
      rmSync(join(root, ".git"), { recursive: true })
      yield* undoRuntimeChanges(root)
    })
  )

  it.effect("is looked for in as many files as anybody has: others count as changed", () =>
    Effect.gen(function* () {
      const { commit, root, write } = yield* repository
      const paths = ["a", "b", "c"].map((folder) => `${folder}/opencode.json`)
      for (const path of paths) commit(path, plain)
      for (const path of paths) write(path, asOpenCodeLeavesIt)
      const changes = paths.map((path) => ({ code: " M", path }))
      assert.deepStrictEqual(yield* withoutRuntimeChanges(root, changes), [])
      assert.deepStrictEqual(yield* withoutRuntimeChanges(root, changes, {}, 2), changes.slice(2))
    })
  )
})
