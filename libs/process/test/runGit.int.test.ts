/** What git of Reprise does not obey, though it stands in the workspace: a command may have written it. */
import { execFileSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { runGit } from "../src/index.ts"

const repository = Effect.acquireRelease(
  Effect.sync(() => {
    const root = mkdtempSync(join(tmpdir(), "reprise-git-"))
    const git = (...args: ReadonlyArray<string>) =>
      execFileSync("git", ["-C", root, ...args], { encoding: "utf8", stdio: "pipe" })
    git("init", "--quiet")
    git("config", "user.email", "test@reprise.invalid")
    git("config", "user.name", "Test")
    writeFileSync(join(root, "file"), "one\n")
    return { root, git, ran: join(root, "ran") }
  }),
  ({ root }) => Effect.sync(() => rmSync(root, { recursive: true, force: true }))
)

describe("git, as Reprise runs it", () => {
  it.live("takes no workspace for a repository with a configuration of its own after the real one was broken", () =>
    Effect.gen(function* () {
      const { git, ran, root } = yield* repository
      git("add", ".")
      git("commit", "--quiet", "--message", "First")
      writeFileSync(join(root, ".git", "HEAD"), "nothing\n")
      for (const folder of ["objects", "refs"]) mkdirSync(join(root, folder))
      writeFileSync(join(root, "HEAD"), "ref: refs/heads/main\n")
      const filter = `[filter "x"]\n\tclean = touch ${ran}; cat\n`
      writeFileSync(
        join(root, "config"),
        `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ${root}\n${filter}`
      )
      writeFileSync(join(root, ".gitattributes"), "* filter=x\n")
      git("add", "file")
      assert.isTrue(existsSync(ran), "a plain git obeys it")
      rmSync(ran)
      assert.notStrictEqual((yield* runGit(root, ["add", "--", "file"])).exitCode, 0)
      assert.isFalse(existsSync(ran))
    })
  )

  it.live("runs no hook, also where the configuration says that they are in the workspace", () =>
    Effect.gen(function* () {
      const { git, ran, root } = yield* repository
      git("config", "core.hooksPath", ".hooks")
      mkdirSync(join(root, ".hooks"))
      for (const name of ["post-index-change", "reference-transaction", "post-commit"]) {
        const hook = join(root, ".hooks", name)
        writeFileSync(hook, `#!/bin/sh\ntouch ${ran}\n`)
        chmodSync(hook, 0o755)
      }
      git("add", "file")
      assert.isTrue(existsSync(ran), "a plain git runs it")
      rmSync(ran)
      writeFileSync(join(root, "file"), "two\n")
      for (const args of [
        ["add", "--", "file"],
        ["commit", "--quiet", "--message", "First"]
      ]) {
        assert.strictEqual((yield* runGit(root, args)).exitCode, 0)
      }
      assert.isFalse(existsSync(ran))
    })
  )

  it.live("shows a commit as it is, not as one that was named in its place", () =>
    Effect.gen(function* () {
      const { git, root } = yield* repository
      git("add", "file")
      git("commit", "--quiet", "--message", "First")
      writeFileSync(join(root, "file"), "two\n")
      git("commit", "--quiet", "--all", "--message", "Second")
      git("replace", "HEAD", "HEAD~1")
      assert.strictEqual(git("show", "HEAD:file"), "one\n", "a plain git shows the other")
      assert.strictEqual((yield* runGit(root, ["show", "HEAD:file"])).stdout, "two\n")
    })
  )

  it.live("gives the user's filters an environment in which Python takes no module from the workspace", () =>
    Effect.gen(function* () {
      const { root } = yield* repository
      const home = join(root, ".git", "home")
      mkdirSync(home)
      const seen = join(home, "seen")
      writeFileSync(join(home, ".gitconfig"), `[filter "x"]\n\tclean = "echo $PYTHONSAFEPATH >${seen}; cat"\n`)
      writeFileSync(join(root, ".gitattributes"), "file filter=x\n")
      const environment = { ...process.env, HOME: home, PYTHONSAFEPATH: "" }
      assert.strictEqual((yield* runGit(root, ["add", "--", "file"], { environment })).exitCode, 0)
      assert.strictEqual(readFileSync(seen, "utf8"), "1\n")
    })
  )
})
