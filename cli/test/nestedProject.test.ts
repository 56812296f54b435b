import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { isInAgentsTree } from "../src/trust/foreignFiles.ts"

describe("a working tree inside of another", () => {
  it("may be an agent's where agents have worked in the one around it, but for a run's own worktree", () => {
    const root = mkdtempSync(join(tmpdir(), "reprise-nested-"))
    try {
      const nested = join(root, "packages", "api")
      const worktree = join(root, ".reprise", "worktrees", "run-1")
      mkdirSync(nested, { recursive: true })
      assert.isFalse(isInAgentsTree(nested))
      mkdirSync(join(root, ".reprise", "sandbox"), { recursive: true })
      assert.deepStrictEqual(
        [root, nested, worktree, join(worktree, "packages", "api")].map((path) => isInAgentsTree(path)),
        [false, true, false, true]
      )
    } finally {
      rmSync(root, { recursive: true, force: true })
    }
  })
})
