/** What the git of a repository runs by files of its working tree, for `reprise doctor`. */
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { treeProgramsOf } from "../src/index.ts"

const made = Effect.acquireRelease(
  Effect.sync(() => {
    const home = realpathSync(mkdtempSync(join(tmpdir(), "reprise-tree-programs-")))
    const workspace = join(home, "work")
    const environment = { ...process.env, HOME: home, XDG_CONFIG_HOME: join(home, ".config"), GIT_CONFIG_NOSYSTEM: "1" }
    const git = (...args: ReadonlyArray<string>) => execFileSync("git", args, { cwd: home, env: environment })
    git("init", "-q", workspace)
    const put = (path: string, text: string) => {
      mkdirSync(join(workspace, path, ".."), { recursive: true })
      writeFileSync(join(workspace, path), text)
    }
    const config = (...args: ReadonlyArray<string>) => git("-C", workspace, "config", ...args)
    return { home, workspace, put, config, names: () => treeProgramsOf(workspace, environment) }
  }),
  ({ home }) => Effect.sync(() => rmSync(home, { recursive: true }))
)

describe("what git runs by files of the tree", () => {
  it.effect("is nothing in a new repository, nor with programs of the machine", () =>
    Effect.gen(function* () {
      const { config, home, names, workspace } = yield* made
      config("--global", "filter.lfs.process", "git-lfs filter-process")
      config("--global", "core.editor", "code --wait")
      config("--global", "core.hooksPath", join(home, "hooks"))
      config("--global", "alias.lint", "!npx lint-staged")
      config("gpg.program", "/usr/bin/gpg")
      assert.deepStrictEqual(yield* Effect.promise(names), [])
      assert.deepStrictEqual(yield* Effect.promise(() => treeProgramsOf(join(workspace, ".."), {})), [])
    })
  )

  it.effect("is told by its setting and file, and by the line of a hook", () =>
    Effect.gen(function* () {
      const { config, home, names, put, workspace } = yield* made
      put("tools/clean.js", "")
      put(".git/hooks/pre-commit", "#!/bin/sh\n# npx in a comment\nexec npx lint-staged\n")
      put(".git/hooks/pre-push.sample", "npx x\n")
      config("--global", "merge.lock.driver", "npx npm-merge-driver merge %A %O %B %P")
      config("filter.own.clean", "node tools/clean.js %f")
      config("filter.own.smudge", "./scripts/absent")
      const [own, user] = [join(workspace, ".git", "config"), join(home, ".gitconfig")]
      assert.sameDeepMembers(
        [...(yield* Effect.promise(names))],
        [
          { name: "merge.lock.driver", text: "npx npm-merge-driver merge %A %O %B %P", file: user },
          { name: "filter.own.clean", text: "node tools/clean.js %f", file: own },
          { name: "filter.own.smudge", text: "./scripts/absent", file: own },
          { name: join(workspace, ".git", "hooks", "pre-commit"), text: "exec npx lint-staged" }
        ]
      )
    })
  )

  it.effect("is a folder of hooks in the tree, in the place of git's own", () =>
    Effect.gen(function* () {
      const { config, names, put, workspace } = yield* made
      put(".git/hooks/pre-commit", "exec npx lint-staged\n")
      put(".husky/_/commit-msg", "pnpm commitlint\n")
      config("core.hooksPath", ".husky/_")
      assert.deepStrictEqual(yield* Effect.promise(names), [
        { name: "core.hookspath", text: ".husky/_", file: join(workspace, ".git", "config") },
        { name: join(workspace, ".husky", "_", "commit-msg"), text: "pnpm commitlint" }
      ])
    })
  )
})
