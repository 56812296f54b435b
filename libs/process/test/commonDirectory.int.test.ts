import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { afterEach, beforeEach } from "vitest"
import { commonDirectoryOf, sharedBy } from "../src/commonDirectory.ts"
import { runGit } from "../src/runGit.ts"

describe("the git directory that working trees share", () => {
  let root = ""
  const at = (path: string) => join(root, path)
  const git = (directory: string, ...args: ReadonlyArray<string>) =>
    execFileSync(
      "git",
      ["-c", "user.name=a", "-c", "user.email=a@b.invalid", "-c", "protocol.file.allow=always", ...args],
      {
        cwd: directory,
        encoding: "utf8",
        stdio: "pipe"
      }
    ).trim()

  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "reprise-common-")))
    for (const name of ["lib", "work"]) {
      mkdirSync(at(name))
      git(at(name), "init", "--quiet")
      writeFileSync(join(at(name), "z.dat"), "one\n")
      git(at(name), "add", ".")
      git(at(name), "commit", "--quiet", "--message", "Begin")
    }
    git(at("work"), "submodule", "--quiet", "add", at("lib"), "sub")
    git(at("work"), "worktree", "add", "--quiet", at("tree"))
  })
  afterEach(() => rmSync(root, { recursive: true, force: true }))

  it("is what git says, in a repository, a worktree and a submodule", async () => {
    for (const name of ["work", "tree", "work/sub"]) {
      const said = git(at(name), "rev-parse", "--path-format=absolute", "--git-common-dir")
      assert.strictEqual(await commonDirectoryOf(at(name)), said)
      const { stdout } = await Effect.runPromise(runGit(at(name), ["status", "--porcelain"]))
      assert.strictEqual(stdout, `${git(at(name), "status", "--porcelain")}\n`.replace(/^\n$/, ""))
    }
    assert.isUndefined(await commonDirectoryOf(root))
    assert.strictEqual(sharedBy("/r/.git/worktrees/w/modules/s"), "/r/.git/worktrees/w/modules/s")
  })

  it("is what git says whatever line breaks follow in .git, and is told by nobody where that is too large", async () => {
    const pointer = readFileSync(join(at("tree"), ".git"), "utf8")
    writeFileSync(join(at("tree"), ".git"), `${pointer}${"\n".repeat(100_000)}`)
    assert.strictEqual(await commonDirectoryOf(at("tree")), join(at("work"), ".git"))
    writeFileSync(join(at("tree"), ".git"), `${pointer}${"\n".repeat(1024 * 1024)}`)
    const refusal = await commonDirectoryOf(at("tree")).catch((error) => error)
    assert.match(refusal.message, /tree\/\.git has more than 1048576 bytes/)
  })

  it("is told to git, whose programs no other one names, and is none while a file names another one", async () => {
    const evil = at("work/.git/evil")
    execFileSync("cp", ["-R", at("lib/.git"), evil])
    git(root, "--git-dir", evil, "config", "filter.x.clean", `touch ${at("ran")}; cat`)
    writeFileSync(join(evil, "info/attributes"), "* filter=x\n")
    for (const [top, pointer] of [
      ["work", "work/.git/commondir"],
      ["tree", "work/.git/worktrees/tree/commondir"]
    ] as const) {
      const asked = Effect.runPromise(runGit(at(top), ["rev-parse", "--git-common-dir"]))
      assert.strictEqual((await asked).stdout, `${at("work/.git")}\n`)
      writeFileSync(at(pointer), `${evil}\n`)
      writeFileSync(at(`${top}/z.dat`), "two\n")
      const failure = await Effect.runPromise(Effect.flip(runGit(at(top), ["diff", "--name-only", "HEAD"])))
      assert.match(failure.message, /commondir leads to another git directory.*remove it\.$/)
      assert.isFalse(existsSync(at("ran")))
    }
  })
})
