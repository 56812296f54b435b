import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { headCommit } from "../src/work/headCommit.ts"
import { uncommittedChanges } from "../src/work/uncommitted.ts"

const repository = Effect.acquireRelease(
  Effect.sync(() => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "reprise-uncommitted-")))
    const git = (...args: ReadonlyArray<string>) =>
      execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...args], { cwd: root })
    const write = (path: string, text = "x\n") => {
      mkdirSync(join(root, path, ".."), { recursive: true })
      writeFileSync(join(root, path), text)
    }
    git("init", "-q", "-b", "main")
    return { root, git, write, changes: uncommittedChanges(root) }
  }),
  ({ root }) => Effect.sync(() => rmSync(root, { recursive: true, force: true }))
)

describe("what a fresh author is told of uncommitted changes", () => {
  it.live("are the changed and untracked files with their lines, as git tells at that moment", () =>
    Effect.gen(function* () {
      const { changes, git, root, write } = yield* repository
      for (const path of ["changed.ts", "removed.ts", "staged.ts"]) write(path, "one\ntwo\n")
      git("add", "-A")
      git("commit", "-q", "-m", "Begin")
      assert.isUndefined(yield* changes)
      write("changed.ts", "one\nthree\nfour\n")
      write("staged.ts", "one\n")
      git("add", "staged.ts")
      rmSync(join(root, "removed.ts"))
      write("new/one.ts")
      write("new/two.ts")
      assert.strictEqual(
        yield* changes,
        [
          "3 changed files (+2 -4 lines), 1 untracked:",
          "> M changed.ts (+2 -1)",
          "> D removed.ts (+0 -2)",
          "> M staged.ts (+0 -1)",
          "> ?? new/"
        ].join("\n")
      )
      git("add", "-A")
      git("commit", "-q", "-m", "Go on")
      assert.isUndefined(yield* changes)
    })
  )

  it.live("are a sentence that names the pipe on which git would wait forever", () =>
    Effect.gen(function* () {
      const { changes, root, write } = yield* repository
      write("new.ts")
      execFileSync("mkfifo", [join(root, ".gitignore")])
      assert.strictEqual(yield* changes, `Git cannot say: ${join(root, ".gitignore")} is a named pipe. Remove it.`)
    })
  )

  it.live("have hostile names in quotes, and no more than 50 lines", () =>
    Effect.gen(function* () {
      const { changes, write } = yield* repository
      write("a b\n## Your report`.txt")
      write("\u202egnp.exe")
      for (let n = 0; n < 60; n++) write(`file-${n}`)
      const text = (yield* changes) ?? ""
      const lines = text.split("\n")
      assert.strictEqual(lines[0], "62 untracked:")
      assert.strictEqual(lines.length, 52)
      assert.strictEqual(lines.at(-1), "- and 12 more: `git status` lists them")
      assert.include(text, '> ?? "a b\\u{a}## Your report\\`.txt"')
      assert.notInclude(text, "\u202e")
    })
  )

  it.live("leave out what Reprise and the agents' runtimes write", () =>
    Effect.gen(function* () {
      const { changes, git, write } = yield* repository
      write("opencode.json", '{ "model": "m" }\n')
      write(".planning/notes.md")
      write(".planning/phases/01-a/notes.md")
      git("add", "-A")
      git("commit", "-q", "-m", "Begin")
      write(".planning/phases/01-a/SUMMARY.md", "done\n")
      write(".reprise/log")
      write("opencode.json", '{\n  "$schema": "https://opencode.ai/config.json", "model": "m" }\n')
      assert.isUndefined(yield* changes)
    })
  )

  it.live("name a file that git tracks, whatever Reprise writes under that name", () =>
    Effect.gen(function* () {
      const { changes, git, write } = yield* repository
      const paths = [".planning/phases/01-a/SUMMARY.md", ".reprise/check.sh"]
      for (const path of paths) write(path)
      git("add", "-A")
      git("commit", "-q", "-m", "Begin")
      for (const path of paths) write(path, "other\n")
      const lines = paths.map((path) => `> M ${path} (+1 -1)`).join("\n")
      assert.strictEqual(yield* changes, `2 changed files (+2 -2 lines):\n${lines}`)
    })
  )

  it.live("leave out the phase's review, which is committed with its approval", () =>
    Effect.gen(function* () {
      const { git, root, write } = yield* repository
      const review = "docs/reviews/plan-1.md"
      const changes = uncommittedChanges(root, review)
      write(review)
      assert.isUndefined(yield* changes)
      write("docs/reviews/other.md")
      write("docs/reviews/more/deep.md")
      assert.strictEqual(yield* changes, "2 untracked:\n> ?? docs/reviews/more/deep.md\n> ?? docs/reviews/other.md")
      git("add", "-A")
      git("commit", "-q", "-m", "Begin")
      write(review, "more\n")
      assert.isUndefined(yield* changes)
    })
  )

  it.live.each([".git", ".git/HEAD"])(
    "are never those of the repository around it, where a command removed %s",
    (removed) =>
      Effect.gen(function* () {
        const { git, root, write } = yield* repository
        const inside = join(root, "worktree")
        write("file.ts")
        git("add", "-A")
        git("commit", "-q", "-m", "Begin")
        git("worktree", "add", "-q", inside)
        execFileSync("git", ["init", "-q", join(root, "nested")])
        for (const directory of [inside, join(root, "nested")]) {
          rmSync(join(directory, directory === inside ? ".git" : removed), { recursive: true })
          write("more.ts")
          assert.isUndefined(yield* uncommittedChanges(directory))
          assert.isUndefined(yield* headCommit(directory))
        }
        assert.isDefined(yield* headCommit(root))
      })
  )

  it.live("are none where there is no repository or no directory", () =>
    Effect.gen(function* () {
      const { root } = yield* repository
      rmSync(join(root, ".git"), { recursive: true })
      assert.isUndefined(yield* uncommittedChanges(root))
      assert.isUndefined(yield* uncommittedChanges(join(root, "nowhere")))
    })
  )
})
