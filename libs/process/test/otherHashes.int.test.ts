/** Objects of repositories of either hash that a command took away. */
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { falsehoodsBetween } from "../src/falseObjects.ts"

const repositoryOf = (format: string) =>
  Effect.acquireRelease(
    Effect.sync(() => realpathSync(mkdtempSync(join(tmpdir(), "reprise-hashes-")))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  ).pipe(
    Effect.map((work) => {
      const git = (...args: ReadonlyArray<string>) =>
        execFileSync("git", ["-C", work, "-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...args], {
          encoding: "utf8",
          stdio: ["ignore", "pipe", "ignore"]
        }).trim()
      git("init", "-q", `--object-format=${format}`)
      for (const folder of ["one", "two"]) {
        mkdirSync(join(work, folder, "in"), { recursive: true })
        writeFileSync(join(work, folder, "in", "file"), folder)
        git("add", "-A")
        git("commit", "-q", "-m", folder)
      }
      const [base, commit] = [git("rev-parse", "HEAD~"), git("rev-parse", "HEAD")]
      const take = (name: string) => {
        const hash = git("rev-parse", name)
        rmSync(join(work, ".git", "objects", hash.slice(0, 2), hash.slice(2)))
      }
      return { base, commit, take, work }
    })
  )

const cases = ["sha1", "sha256"].flatMap((format) => ["HEAD:two/in", "HEAD~"].map((name) => ({ format, name })))

describe("work whose objects a command took away", () => {
  it.live.each(cases)("is told, in a repository of $format without $name", ({ format, name }) =>
    Effect.gen(function* () {
      const { base, commit, take, work } = yield* repositoryOf(format)
      assert.deepStrictEqual(yield* falsehoodsBetween(work, base, commit), [])
      take(name)
      const found = yield* falsehoodsBetween(work, base, commit)
      assert.isAtLeast(found.length, 1)
    })
  )
})
