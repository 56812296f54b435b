/** What commands do in git's directories of working trees that other runs, or the user, work in. */
import { execFileSync } from "node:child_process"
import { mkdirSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { RunId } from "@reprise/protocol"
import { Effect } from "effect"
import type { SandboxShape } from "../src/index.ts"
import { canSandbox, type Scene, scene } from "../src/testing.ts"
import { during, run } from "./support/sandboxedScene.ts"

const sandboxed = await canSandbox()

const git = (cwd: string, ...args: ReadonlyArray<string>) =>
  execFileSync("git", args, { cwd, encoding: "utf8", stdio: "pipe" }).trim()

/** A run in a worktree of its own, as Reprise prepares it. */
const worktreeOf = (here: Scene, name: string): Scene => {
  const folder = join(here.stateDirectory, "worktrees")
  mkdirSync(folder, { recursive: true })
  git(here.workspace, "worktree", "add", "-q", "-b", name, join(folder, name))
  return { ...here, workspace: join(folder, name) }
}

/** All that git keeps of a worktree, by its path. */
const contentOf = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name, parentPath }) => `${join(parentPath, name)}: ${readFileSync(join(parentPath, name), "base64")}`)
    .sort()

const whose: ReadonlyArray<readonly [string, (sandbox: SandboxShape, at: string) => Effect.Effect<string, unknown>]> = [
  ["an author", ({ shellFor }, at) => shellFor(at, "author")],
  ["a reviewer", ({ shellFor }, at) => shellFor(at, "reviewer")],
  ["a quality gate", ({ gateShell }, at) => gateShell(at, RunId.make("r1"))]
]

const attack = (other: string) =>
  [
    `git rev-parse HEAD > ${other}/HEAD`,
    `cp "$(git rev-parse --git-path index)" ${other}/index`,
    `rm -f ${other}/index`,
    `echo x >> ${other}/logs/HEAD`,
    `mkdir ${other}/rebase-merge`,
    `mv ${other} ${other}-moved`,
    `rm -rf ${other}`,
    "git worktree prune --expire now"
  ].join("; ")

describe.skipIf(!sandboxed)("git's directory of a working tree that another run works in", () => {
  it.live.each(whose)("stays as it is while a command of %s runs in a worktree", ([, shellFor]) =>
    Effect.gen(function* () {
      const here = yield* scene
      const [own, other] = [worktreeOf(here, "r1"), worktreeOf(here, "r2")]
      const folder = git(other.workspace, "rev-parse", "--absolute-git-dir")
      const before = contentOf(folder)
      yield* during(here, (sandbox) =>
        Effect.flatMap(shellFor(sandbox, own.workspace), (shell) => run(own, shell, attack(folder)))
      )
      assert.deepStrictEqual(contentOf(folder), before)
    })
  )

  it.live("stays as it is while a command runs in the user's own working tree", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const folders = [worktreeOf(here, "r1").workspace, join(here.home, "second")].map((tree) =>
        git(tree, "rev-parse", "--absolute-git-dir")
      )
      const before = folders.map(contentOf)
      yield* during(here, ({ shellFor }) =>
        Effect.flatMap(shellFor(here.workspace, "author"), (shell) => run(here, shell, folders.map(attack).join("; ")))
      )
      assert.deepStrictEqual(folders.map(contentOf), before)
    })
  )

  it.live("is not needed: a command commits, collects garbage, and makes worktrees in which later ones commit", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const [own] = [worktreeOf(here, "r1"), worktreeOf(here, "r2")]
      const say = ["git", "-c", "user.name=me", "-c", "user.email=me@example.org"].join(" ")
      const said = yield* during(here, ({ shellFor }) =>
        Effect.forEach(
          [
            `echo x > new && git add new && ${say} commit -qm new && git gc -q && git worktree add -q inner && echo one`,
            `cd inner && echo y > newer && git add newer && ${say} commit -qm newer && echo two`,
            "git log -1 --format=%s inner --"
          ],
          (command) => Effect.flatMap(shellFor(own.workspace, "author"), (shell) => run(own, shell, command))
        )
      )
      assert.deepStrictEqual(
        said.map((one) => one.trim()),
        ["one", "two", "newer"]
      )
    })
  )
})
