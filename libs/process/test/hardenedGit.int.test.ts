/**
 * Every setting that git knows, in a repository inside of the workspace, in a file that it includes, and with attributes: a
 * git as Reprise runs it starts no program for it.
 */
import { execFileSync } from "node:child_process"
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { runGit } from "../src/runGit.ts"
import { workingTreeChanges } from "../src/workingTree.ts"
import { knownKeys, sectionOf } from "./support/gitKeys.ts"

const git = (directory: string, ...args: ReadonlyArray<string>) =>
  execFileSync("git", ["-C", directory, "-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...args], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    timeout: 60_000
  })

/** By these git tells that a folder is a repository; of any other value than its own it stops. */
const isOfRepository = (key: string): boolean =>
  /^(core\.(bare|worktree|repositoryformatversion)|extensions\.)/i.test(key)

/** Where the setting stands. `text`: the setting. Gives the configuration of the repository inside. */
const places: Readonly<Record<string, (inner: string, text: string) => string>> = {
  "the configuration": (_, text) => text,
  "an included file": (inner, text) => {
    writeFileSync(join(inner, ".git", "included"), text)
    return "[include]\n\tpath = included\n"
  }
}

const repository = Effect.acquireRelease(
  Effect.sync(() => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "reprise-keys-")))
    const [work, inner] = [join(root, "work"), join(root, "work", "inner")]
    for (const folder of [work, inner]) {
      mkdirSync(folder)
      git(folder, "init", "-q", "-b", "main")
    }
    const all = ["filter", "diff", "merge"].map((name) => `${name}=x`).join(" ")
    writeFileSync(join(inner, ".gitattributes"), `* ${all}\n`)
    writeFileSync(join(inner, "file"), "one\n")
    git(inner, "add", "-A")
    git(inner, "commit", "-q", "-m", "Begin")
    writeFileSync(join(work, "file"), "one\n")
    git(work, "add", "file")
    git(work, "commit", "-q", "-m", "Begin")
    git(work, "add", "inner")
    writeFileSync(join(work, ".gitmodules"), '[submodule "inner"]\n\tpath = inner\n\turl = ./inner\n\tignore = none\n')
    git(work, "add", ".gitmodules")
    git(work, "commit", "-q", "-m", "Inner")
    return { root, work, inner, plain: git(inner, "config", "--list") && join(inner, ".git", "config") }
  }),
  ({ root }) => Effect.sync(() => rmSync(root, { recursive: true, force: true }))
)

/** What Reprise asks git about a working tree, and what an agent's program may ask for. */
const looks: ReadonlyArray<ReadonlyArray<string>> = [
  ["diff", "--patch", "HEAD"],
  ["log", "--patch", "-2"],
  ["show", "HEAD"],
  ["add", "--", "file"],
  ["commit", "--quiet", "--allow-empty", "--only", "--message=x", "--", "file"]
]

describe("git, as Reprise runs it", () => {
  it.live("starts no program that a repository inside names, by whatever key and in whatever place", () =>
    Effect.gen(function* () {
      const { inner, plain, root, work } = yield* repository
      const witness = join(root, "ran")
      const original = readFileSync(plain, "utf8")
      const configure = (text: string) => {
        writeFileSync(plain, `${original}${text}`)
        // Of the same length: git has to read the file.
        writeFileSync(join(inner, "file"), "two\n")
        const later = new Date(Date.now() + 5000)
        utimesSync(join(inner, "file"), later, later)
      }
      const setting = (key: string) => sectionOf(key, `touch ${witness}; false`)
      const ran = () => {
        const found = existsSync(witness)
        rmSync(witness, { force: true })
        return found
      }
      const plainLooks = () => {
        for (const args of [["status"], ["diff", "--submodule=diff"]]) {
          try {
            git(work, ...args)
          } catch {
            // What the value breaks.
          }
        }
      }
      const ours = Effect.gen(function* () {
        const changes = yield* workingTreeChanges(work, { untracked: "normal" })
        const answers = yield* Effect.forEach(looks, (args) => runGit(work, args))
        return [changes, answers.map(({ exitCode, stderr }) => [exitCode, stderr])]
      })

      configure("")
      const expected = yield* ours
      const obeyed = knownKeys.filter((key) => {
        configure(setting(key))
        plainLooks()
        return ran()
      })
      assert.isAbove(knownKeys.length, 500)
      assert.includeMembers(obeyed, ["core.fsmonitor", "filter.x.clean", "filter.x.process", "diff.external"])
      for (const place of Object.values(places)) {
        for (const some of [...obeyed.map((key) => [key]), knownKeys.filter((key) => !isOfRepository(key))]) {
          configure(place(inner, some.map(setting).join("")))
          assert.deepStrictEqual(yield* ours, expected, "its configuration is not even read")
          assert.isFalse(ran(), some.length === 1 ? some[0] : "all keys")
        }
      }
    })
  )
})
