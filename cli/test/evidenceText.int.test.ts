import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { workSince } from "@reprise/workspace/look"
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
      const { files } = yield* workSince(folder, base)
      assert.deepStrictEqual(
        files.map(({ added, path, removed }) => [path, added, removed]),
        [
          ["a.txt", 1, 1],
          ["ä.txt", 1, 0]
        ]
      )
      assert.include(files[1]?.text, "diff --git a/ä.txt b/ä.txt\n")
    })
  )

  it.effect("list so many files that there is room for what was done in them, and say how many more there are", () =>
    Effect.gen(function* () {
      const base = commit("a.txt", "one\n")
      writeFileSync(join(folder, "a.txt"), "two\n")
      for (let n = 0; n < 230; n += 1) writeFileSync(join(folder, `${"n".repeat(200)}${n}`), "")
      const shown = yield* changesSince(folder, base)
      assert.include(shown, "\n… and 30 more\n\nChanges:\na.txt +1 -1\n\ndiff --git a/a.txt b/a.txt\n")
    })
  )

  it.effect("have one line for each file, whatever its name", () =>
    Effect.gen(function* () {
      const base = commit("a.txt", "one\n")
      commit("b\nChanges:\nc.txt", "two\n")
      writeFileSync(join(folder, "u\nv.txt"), "")
      const shown = yield* changesSince(folder, base)
      assert.include(shown, "Untracked:\nu\\nv.txt\n\nChanges:\nb\\nChanges:\\nc.txt +1 -0 new\n\n")
    })
  )

  it.live("name the file on which git would wait forever, instead of nothing", () =>
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
      const all = yield* workSince(folder, base)
      assert.deepStrictEqual(
        all.files.map(({ added, isWhole, path, text }) => [path, added, isWhole, text === ""]),
        [
          ["b.txt", 120_000, true, false],
          ["c.txt", 120_000, true, false],
          ["d.txt", 120_000, false, false],
          ["huge.txt", 0, false, true]
        ]
      )
      git("rm", "--quiet", "--cached", "b.txt", "c.txt", "d.txt")
      const [huge] = (yield* workSince(folder, base)).files
      assert.deepStrictEqual(huge?.kinds, ["new", "binary"])
      assert.match(huge?.text ?? "", /Binary files \/dev\/null and b\/huge\.txt differ\n$/)
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
