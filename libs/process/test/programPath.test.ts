import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { commandEnvironment } from "../src/childEnvironment.ts"
import { splitPath, treePathVariable, withoutTreePath } from "../src/programPath.ts"

describe("folders of programs", () => {
  it.each([
    ["/usr/bin:/bin", "/usr/bin:/bin", ""],
    ["/work/node_modules/.bin:/usr/bin", "/usr/bin", "/work/node_modules/.bin"],
    ["/work:/workshop/bin:/bin", "/workshop/bin:/bin", "/work"],
    ["node_modules/.bin:.:/bin", "/bin", "node_modules/.bin:."],
    ["/usr/../work/bin:/bin", "/bin", "/usr/../work/bin"],
    [":/bin:", "/bin", ""],
    ["/work/bin", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "/work/bin"]
  ])("of %s are outside of the tree: %s, and in it: %s", (path, outside, inTree) => {
    assert.deepStrictEqual(splitPath(path, ["/work"]), { outside, inTree })
  })

  it("are left out for good if they do not exist when Reprise starts", () => {
    const root = mkdtempSync(join(tmpdir(), "reprise-path-"))
    try {
      const [later, now] = [join(root, "later"), join(root, "now")]
      mkdirSync(now)
      const pathOf = (path: string) => withoutTreePath({ PATH: path }, root)["PATH"]
      assert.strictEqual(pathOf(`${later}:${now}:/bin`), `${now}:/bin`)
      assert.include(pathOf(later), "/usr/bin:")
    } finally {
      rmSync(root, { recursive: true, force: true })
    }
  })

  it("in the tree are noted for quality gates, which find them first", () => {
    const root = mkdtempSync(join(tmpdir(), "reprise-path-"))
    try {
      const below = join(root, "packages", "one")
      mkdirSync(below, { recursive: true })
      writeFileSync(join(root, ".git"), "gitdir: elsewhere\n")
      const bin = join(root, "node_modules", ".bin")
      const environment = withoutTreePath({ PATH: `${bin}:/bin`, HOME: "/home/me" }, below)
      assert.deepStrictEqual(environment, { PATH: "/bin", HOME: "/home/me", [treePathVariable]: bin })
      assert.strictEqual(commandEnvironment(environment, [])["PATH"], `${bin}:/bin`)
      // A repository inside of another may be a command's.
      mkdirSync(join(root, "packages", ".git"))
      assert.strictEqual(withoutTreePath({ PATH: `${bin}:/bin`, HOME: "/home/me" }, below)["PATH"], "/bin")
      mkdirSync(bin, { recursive: true })
      symlinkSync(root, join(root, "..", `${basename(root)}-link`))
      const linked = join(root, "..", `${basename(root)}-link`, "node_modules", ".bin")
      try {
        assert.strictEqual(withoutTreePath({ PATH: `${linked}:/bin`, HOME: "/home/me" }, below)["PATH"], "/bin")
      } finally {
        rmSync(join(root, "..", `${basename(root)}-link`))
      }
      rmSync(join(root, "packages", ".git"), { recursive: true })
      // A run's worktree lies in the repository.
      const worktree = join(root, ".reprise", "worktrees", "run-1")
      mkdirSync(worktree, { recursive: true })
      writeFileSync(join(worktree, ".git"), "gitdir: elsewhere\n")
      assert.strictEqual(withoutTreePath({ PATH: `${bin}:/bin` }, worktree)["PATH"], "/bin")
      // Somebody keeps the home folder in git: all of their programs are in it.
      assert.strictEqual(withoutTreePath({ PATH: `${bin}:/bin`, HOME: root }, below)["PATH"], `${bin}:/bin`)
    } finally {
      rmSync(root, { recursive: true, force: true })
    }
  })
})
