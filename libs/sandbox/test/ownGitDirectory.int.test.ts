/** A command that moves or removes the git directory of its workspace, and makes another. */
import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { scene } from "../src/testing.ts"
import { during, runIn } from "./support/sandboxedScene.ts"

/** What a repository would say that a git outside obeys. */
const another = (git: string) =>
  `echo 'ref: refs/heads/other' >${git}/HEAD; printf '[core]\\nfsmonitor = touch obeyed\\n' >>${git}/config; echo 'touch obeyed' >${git}/hooks/post-commit`

describe("the git directory of a workspace", () => {
  it.live.each([
    ["moved", `mv .git x; git init -q; ${another(".git")}`],
    [
      "moved, and a pointer put in its place",
      `mv .git x; git init -q other; ${another("other/.git")}; echo "gitdir: other/.git" >.git`
    ],
    [
      "moved, and a link put in its place",
      `mv .git x; git init -q other; ${another("other/.git")}; ln -s other/.git .git; ln -sfn other/.git .git`
    ],
    ["exchanged", `git init -q other; ${another("other/.git")}; mv --exchange .git other/.git; mv -T other/.git .git`],
    ["removed", `rm -rf .git; git init -q; ${another(".git")}`]
  ])("stays, and says outside what it said, when a command had it %s", ([, command = ""]) =>
    Effect.gen(function* () {
      const here = yield* scene
      const git = (...args: ReadonlyArray<string>) =>
        execFileSync("git", args, { cwd: here.workspace, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })
      const before = git("config", "--local", "--list")
      yield* during(here, (sandbox) =>
        Effect.gen(function* () {
          yield* runIn(here, sandbox, command)
          yield* sandbox.tidy(here.workspace)
          assert.strictEqual(git("config", "--local", "--list"), before)
          assert.strictEqual(git("rev-parse", "--absolute-git-dir").trim(), join(here.workspace, ".git"))
          git("status")
          assert.isFalse(existsSync(join(here.workspace, "obeyed")))
        })
      )
    })
  )
})
