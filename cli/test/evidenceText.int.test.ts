import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { fitPatch, workSince } from "@reprise/workspace/look"
import { Effect } from "effect"
import { afterEach, beforeEach } from "vitest"
import { changesSince } from "../src/flows/gate/evidenceText.ts"

let folder: string

const git = (...args: ReadonlyArray<string>): string =>
  execFileSync("git", ["-c", "user.name=W", "-c", "user.email=w@reprise.invalid", ...args], {
    cwd: folder,
    encoding: "utf8"
  }).trimEnd()

const commit = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text)
  git("add", "--all")
  git("commit", "--quiet", "--message", `Write ${name}`)
  return git("rev-parse", "HEAD")
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "reprise-look-"))
  git("init", "--quiet")
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe("the changes shown with a question", () => {
  it.effect("are the whole work of the phase: commits, uncommitted changes and untracked files", () =>
    Effect.gen(function* () {
      const base = commit("a.txt", "one\n")
      commit("b.txt", "two\n")
      writeFileSync(join(folder, "a.txt"), "one\nmore\n")
      writeFileSync(join(folder, "new.txt"), "three\n")
      const shown = yield* changesSince(folder, base)
      assert.match(shown, /^Commits:\n[0-9a-f]+ Write b\.txt\n\nUntracked:\nnew\.txt\n\nChanges:\n/)
      assert.include(shown, "+two")
      assert.include(shown, "+more")
      assert.notInclude(yield* changesSince(folder), "+two", "without a base only uncommitted changes")
    })
  )

  it.effect("have one form, whatever the repository's configuration says of colours, prefixes and names", () =>
    Effect.gen(function* () {
      const base = commit("a.txt", "one\n")
      commit("a.txt", "two\n")
      commit("ä.txt", "three\n")
      for (const [key, value] of [
        ["color.ui", "always"],
        ["diff.mnemonicPrefix", "true"],
        ["diff.noprefix", "true"],
        ["core.quotePath", "true"]
      ] as const) {
        git("config", key, value)
      }
      const { changes } = yield* workSince(folder, base)
      const files = fitPatch(changes, 10_000).files.map(({ added, path, removed }) => [path, added, removed])
      assert.deepStrictEqual(files, [
        ["a.txt", 1, 1],
        ["ä.txt", 1, 0]
      ])
    })
  )

  it.live("name the file on which git would wait for ever, instead of nothing", () =>
    Effect.gen(function* () {
      const base = commit("a.txt", "one\n")
      writeFileSync(join(folder, "a.txt"), "two\n")
      execFileSync("mkfifo", [join(folder, ".gitattributes")])
      assert.match(yield* changesSince(folder, base), /^git cannot show the changes.*\.gitattributes is a named pipe\./)
    })
  )

  it.effect("are cut, and say so, where git writes without an end; of huge files nothing is shown", () =>
    Effect.gen(function* () {
      const base = commit("a.txt", "one\n")
      const line = `${"x".repeat(99)}\n`
      for (const name of ["b.txt", "c.txt", "d.txt"]) writeFileSync(join(folder, name), line.repeat(120_000))
      writeFileSync(join(folder, "huge.txt"), line.repeat(200_000))
      git("add", "--all")
      const { changes } = yield* workSince(folder, base)
      assert.match(changes.slice(-200), /\n… and more: git wrote over 32 MB$/)
      git("rm", "--quiet", "--cached", "b.txt", "c.txt", "d.txt")
      assert.match((yield* workSince(folder, base)).changes, /Binary files \/dev\/null and b\/huge\.txt differ$/)
    })
  )

  it.effect("are empty if nothing was done, and a base is never taken for an option of git", () =>
    Effect.gen(function* () {
      const base = commit("a.txt", "one\n")
      assert.strictEqual(yield* changesSince(folder, base), "Nothing changed.")
      assert.match(yield* changesSince(folder, "--output=stolen"), /^git cannot show the changes since --output=stolen/)
      assert.strictEqual(git("status", "--porcelain"), "")
    })
  )
})
