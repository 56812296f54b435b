import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, it } from "@effect/vitest"
import { gitDirectoriesOf } from "../src/git/gitDirectories.ts"

it("finds the git directories of submodules and worktrees, however deep their names are", async () => {
  const common = realpathSync(mkdtempSync(join(tmpdir(), "reprise-directories-")))
  const modules = ["modules/a/deep/s", "modules/a/deep/s/modules/t", "modules/hooks", "worktrees/w/modules/u"]
  for (const path of modules) {
    mkdirSync(join(common, path, "objects/pack"), { recursive: true })
    writeFileSync(join(common, path, "HEAD"), "ref: refs/heads/main\n")
  }
  mkdirSync(join(common, "modules/a/deep/s/worktrees/v"), { recursive: true })
  const { repositories, worktrees } = await gitDirectoriesOf({ common })
  rmSync(common, { recursive: true, force: true })
  assert.sameMembers([...repositories], [common, ...modules.map((path) => join(common, path))])
  assert.sameMembers(
    [...worktrees],
    ["worktrees/w", "modules/a/deep/s/worktrees/v"].map((path) => join(common, path))
  )
})
