/** Files in git's folder that the user's next commit obeys, whatever is committed. */
import { execFileSync } from "node:child_process"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { canSandbox, type Scene, scene } from "../src/testing.ts"
import { identity, make } from "./support/nestedCommands.ts"
import { during, environmentOf, runIn } from "./support/sandboxedScene.ts"

const sandboxed = await canSandbox()

const git = ({ home, workspace }: Scene, ...args: ReadonlyArray<string>) =>
  execFileSync("git", ["-C", workspace, "-c", "core.hooksPath=/dev/null", ...args], {
    encoding: "utf8",
    stdio: "pipe",
    env: environmentOf({ home })
  })

const someHash = "1".repeat(40)

/** Keys of the home folder can be read by nobody inside; the user's git would copy one to where commands can. */
const resolution = (folder: string) =>
  `mkdir -p ${folder}/rr-cache/${someHash}; echo pre >${folder}/rr-cache/${someHash}/preimage; printf '${someHash}\\t../home/.ssh/id_ed25519\\0' >${folder}/MERGE_RR`

describe.skipIf(!sandboxed)("what a commit obeys in git's folder", () => {
  it.live("is not there where a command made it: files in which conflicts were resolved", () =>
    Effect.gen(function* () {
      const here = yield* scene
      yield* during(here, (sandbox) => runIn(here, sandbox, resolution(".git")))
      git(here, "commit", "--quiet", "--allow-empty", "-m", "mine")
      assert.isFalse(existsSync(join(here.workspace, ".git/rr-cache")))
    })
  )

  it.live("cannot be made in the user's own tree by a command in a worktree: changes to be unpacked", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const workspace = join(here.home, "second")
      const waiting = join(here.workspace, ".git/MERGE_AUTOSTASH")
      yield* during(here, (sandbox) => runIn({ ...here, workspace }, sandbox, `git rev-parse HEAD >${waiting}`))
      assert.isFalse(existsSync(waiting))
    })
  )

  it.live.each([
    ["files in which conflicts were resolved", resolution("nested/.git")],
    ["changes to be unpacked", "git rev-parse HEAD >nested/.git/MERGE_AUTOSTASH"]
  ])("has a repository inside of the workspace moved: %s", ([, command]) =>
    Effect.gen(function* () {
      const here = yield* scene
      const said = yield* during(here, (sandbox) => runIn(here, sandbox, `${make("nested")}; ${command}`))
      assert.include(said, "nested/.git was moved")
    })
  )

  it.live("stays as the user has it, whose commands have git resolve conflicts, while an agent merges", () =>
    Effect.gen(function* () {
      const here = yield* scene
      git(here, "config", "rerere.enabled", "true")
      writeFileSync(join(here.workspace, "a.txt"), "base\n")
      git(here, "add", "a.txt")
      git(here, "commit", "--quiet", "-m", "base")
      git(here, "branch", "other")
      const conflicting = `${identity}; echo one >a.txt; git commit -qam one; git checkout -q other; echo two >a.txt; git commit -qam two; git merge -q -`
      const said = yield* during(here, (sandbox) =>
        runIn(here, sandbox, `${conflicting}; echo both >a.txt; git commit -qam both; git log -1 --format=%s`)
      )
      assert.match(said, /CONFLICT(.|\n)*both/)
      assert.notInclude(said, "reprise:")
      assert.strictEqual(readFileSync(join(here.workspace, "a.txt"), "utf8"), "both\n")
    })
  )
})
