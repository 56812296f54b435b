/** What changes in a workspace between two commands, such as by an agent's file tool, is looked at after the second one. */
import { execFileSync } from "node:child_process"
import { appendFileSync, existsSync, readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { canSandbox, type Scene, scene } from "../src/testing/index.ts"
import { during, run } from "./support/sandboxedScene.ts"

const sandboxed = await canSandbox()

/** A git directory without `HEAD`, and the tree of a worktree of it, which has one. */
const withoutHead = `git init -q --bare c; git -C c config core.bare false; mkdir -p c/worktrees/w s; mv c/HEAD c/worktrees/w
  echo ../.. > c/worktrees/w/commondir; echo "$PWD/s/.git" > c/worktrees/w/gitdir; echo 'gitdir: ../c/worktrees/w' > s/.git`

/** When the last look began. */
const lookedAt = ({ stateDirectory }: Scene) => {
  const folder = join(stateDirectory, "sandbox", "nested")
  const [looked = "", ...others] = readdirSync(folder).filter((name) => name.includes(".looked"))
  assert.deepStrictEqual(others, [])
  return statSync(join(folder, looked)).mtimeMs
}

describe.skipIf(!sandboxed)("a repository that changes between two commands", () => {
  it.live("is moved away after the second one, which did nothing", () =>
    Effect.gen(function* () {
      const here = yield* scene
      yield* during(here, ({ shellFor }) =>
        Effect.gen(function* () {
          const shell = yield* shellFor(here.workspace, "author")
          yield* run(here, shell, withoutHead)
          assert.isTrue(existsSync(join(here.workspace, "s", ".git")))
          appendFileSync(join(here.workspace, "c", "config"), "[core]\n\tfsmonitor = false\n")
          yield* run(here, shell, "true")
          assert.isFalse(existsSync(join(here.workspace, "s", ".git")))
        })
      )
    })
  )

  it.live("is looked at once", () =>
    Effect.gen(function* () {
      const here = yield* scene
      yield* during(here, ({ shellFor }) =>
        Effect.gen(function* () {
          const shell = yield* shellFor(here.workspace, "author")
          const looks: Array<number> = []
          for (const command of ["true", "true"]) {
            yield* run(here, shell, command)
            looks.push(lookedAt(here))
          }
          execFileSync("git", ["init", "-q", join(here.workspace, "mine")])
          for (const command of ["true", "true"]) {
            yield* run(here, shell, command)
            looks.push(lookedAt(here))
          }
          const [first, second, third, fourth] = looks
          assert.deepStrictEqual([second, fourth], [first, third])
          assert.isAbove(third ?? 0, first ?? 0)
        })
      )
    })
  )
})
