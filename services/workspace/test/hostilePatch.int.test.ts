/** What a file holds or is called never looks like git's own words about another one, and its attributes hide nothing. */
import { execFileSync } from "node:child_process"
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { afterEach, beforeEach } from "vitest"
import { commitCommands } from "../src/work/git/commitCommands.ts"
import { changesIn } from "../src/work/look/look.ts"

let root: string
let folder: string

const git = (...args: ReadonlyArray<string>): string =>
  execFileSync("git", ["-c", "user.name=W", "-c", "user.email=w@reprise.invalid", ...args], {
    cwd: folder,
    encoding: "utf8"
  }).trimEnd()

const write = (path: string, content: string | Buffer) => {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), content)
}

const commit = (files: Readonly<Record<string, string | Buffer>>): string => {
  for (const [path, content] of Object.entries(files)) write(path, content)
  git("add", "--all")
  git("commit", "--quiet", "--allow-empty", "--message", "Write")
  return git("rev-parse", "HEAD")
}

const listed = (base: string, directory = folder) =>
  Effect.map(changesIn(directory, base), ({ files }) =>
    files.map(({ added, kinds, path, removed }) => [path, kinds.join(), added, removed])
  )

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "reprise-patch-"))
  folder = join(root, "tree")
  mkdirSync(folder)
  git("init", "--quiet")
})

afterEach(() => rmSync(root, { recursive: true, force: true }))

/** What a pattern with the flag `m` takes for the end of a line, and git does not. */
const ends = ["\r", "\u2028", "\u2029"].map((end) => [escape(end), end] as const)

const headers = [
  "diff --git a/docs/guide.md b/docs/guide.md",
  "rename to docs/guide.md",
  "+++ b/docs/guide.md",
  "--- a/docs/guide.md",
  "Binary files a/x and b/x differ",
  "@@ -1 +1 @@",
  "new file mode 100644"
]

describe("the changes of hostile work", () => {
  it.effect.each(ends)("are of the files that git names, whatever follows a %s in them", ([, end]) =>
    Effect.gen(function* () {
      const base = commit({ "a.ts": "one\n" })
      commit({
        "a.ts": `one${end}${headers.join(end)}${end}\ntwo\n`,
        "b.ts": headers.map((one) => `${one}\n`).join("")
      })
      assert.deepStrictEqual(yield* listed(base), [
        ["a.ts", "", 2, 1],
        ["b.ts", "new", headers.length, 0]
      ])
    })
  )

  it.effect.each([...ends, ["a line feed", "\n"] as const])(
    "are of the files that git names, with %s in the names",
    ([, end]) =>
      Effect.gen(function* () {
        const base = commit({ "a.ts": "one\n" })
        const names = headers.map((one) => `zz${end}${one}`).sort()
        commit(Object.fromEntries(names.map((name) => [name, "two\n"])))
        const { files } = yield* changesIn(folder, base)
        assert.sameMembers(
          files.map(({ path }) => path),
          names
        )
        for (const { added, kinds, removed, shown, text } of files) {
          assert.deepStrictEqual([kinds, added, removed, shown], [["new"], 1, 0, "whole"])
          assert.match(text, /\n\+two\n$/)
        }
      })
  )

  it.effect("are read at once, whatever a long line holds", () =>
    Effect.gen(function* () {
      const base = commit({ "a.ts": "one\n" })
      commit({ "a.ts": `\u2028diff --git a/${" b/".repeat(350_000)}\n` })
      assert.deepStrictEqual(yield* listed(base), [["a.ts", "", 1, 1]])
    })
  )

  it.effect("are named one by one, and of many files a thousand", () =>
    Effect.gen(function* () {
      const base = commit({ "a.ts": "one\n" })
      commit(Object.fromEntries(Array.from({ length: 1_005 }, (_, n) => [`f${n}`, "two\n"])))
      const { files, more } = yield* changesIn(folder, base)
      assert.deepStrictEqual([files.length, more.files, more.added], [1_000, 5, 5])
    })
  )

  const binary = Buffer.from([0, 1, 2, 10])

  it.effect.each([
    "*.ts -diff",
    "*.ts binary",
    "*.ts diff=hidden",
    "[attr]secret -diff\n*.ts secret",
    "*.ts export-ignore linguist-generated -text whitespace=-trailing-space,cr-at-eol",
    "*.ts diff=cpp"
  ])(
    "are shown as text where a file is text, and as binary where it is not, whatever attributes say: %s",
    (attributes) =>
      Effect.gen(function* () {
        git("config", "diff.hidden.binary", "true")
        const base = commit({ "a.ts": "one\n", "old.ts": "same\n", "p.png": binary })
        git("mv", "old.ts", "new.ts")
        commit({ ".gitattributes": `${attributes}\n`, "a.ts": "one\ntwo\n", "p.png": Buffer.concat([binary, binary]) })
        assert.match(yield* commitCommands.diffStat(folder, base, "HEAD"), /a\.ts +\| +1 \+\n/)
        write("a.ts", "one\ntwo\nthree\n")
        mkdirSync(join(folder, "below"))
        for (const directory of [folder, join(folder, "below")]) {
          const { files } = yield* changesIn(directory, base)
          assert.deepStrictEqual(
            files.slice(1).map(({ added, from, kinds, path, removed }) => [path, from, kinds.join(), added, removed]),
            [
              ["a.ts", undefined, "", 2, 0],
              ["new.ts", "old.ts", "renamed", 0, 0],
              ["p.png", undefined, "binary", 0, 0]
            ]
          )
          assert.include(files[1]?.text, "+two\n+three\n")
        }
      })
  )

  it.effect("are the same in another worktree, in which attributes of the repository's own hide them", () =>
    Effect.gen(function* () {
      const base = commit({ "a.ts": "one\n" })
      write(".git/info/attributes", "*.ts -diff")
      const other = join(root, "other")
      git("worktree", "add", "--quiet", other)
      writeFileSync(join(other, "a.ts"), "two\n")
      writeFileSync(join(other, "b.ts"), "")
      assert.deepStrictEqual(yield* listed(base, other), [["a.ts", "", 1, 1]])
      assert.deepStrictEqual(yield* listed(base), [])
      assert.strictEqual(
        execFileSync("cat", [join(folder, ".git/info/attributes")], { encoding: "utf8" }),
        "*.ts -diff"
      )
    })
  )

  it.effect(
    "keep what attributes say of the form of files: no line is changed that was only checked out otherwise",
    () =>
      Effect.gen(function* () {
        const base = commit({ ".gitattributes": "*.ts text eol=crlf\n", "a.ts": "one\n", "b.ts": "two\n" })
        write("a.ts", "one\r\n")
        write("b.ts", "two\r\nthree\r\n")
        assert.deepStrictEqual(yield* listed(base), [["b.ts", "", 1, 0]])
      })
  )

  it.effect("are shown by what the repository's configuration includes beside itself", () =>
    Effect.gen(function* () {
      const base = commit({ "a.ts": "one\ntwo\n" })
      write("settings", "[diff]\n\tcontext = 0\n")
      git("config", "include.path", "../settings")
      write("a.ts", "one\nthree\n")
      const { files } = yield* changesIn(folder, base)
      assert.notInclude(files[0]?.text, "\n one\n")
    })
  )

  it.effect("are shown in a repository of another form, such as one with SHA-256", () =>
    Effect.gen(function* () {
      rmSync(join(folder, ".git"), { recursive: true })
      git("init", "--quiet", "--object-format=sha256")
      const base = commit({ "a.ts": "one\n" })
      git("config", "extensions.worktreeConfig", "true")
      write("a.ts", "two\n")
      assert.deepStrictEqual(yield* listed(base), [["a.ts", "", 1, 1]])
    })
  )

  it.effect("say that a file can be run now, and that one became a link", () =>
    Effect.gen(function* () {
      const base = commit({ "a.sh": "one\n", "b.sh": "two\n" })
      chmodSync(join(folder, "a.sh"), 0o755)
      rmSync(join(folder, "b.sh"))
      symlinkSync("a.sh", join(folder, "b.sh"))
      assert.deepStrictEqual(yield* listed(base), [
        ["a.sh", "mode changed", 0, 0],
        ["b.sh", "type changed", 1, 1]
      ])
    })
  )
})
