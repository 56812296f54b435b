import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { commandEnvironment, commandsOfTree } from "../src/childEnvironment.ts"
import {
  loadedFromTree,
  pathFrom,
  splitPath,
  treePathVariable,
  withoutPlaces,
  withoutTree
} from "../src/programPath.ts"

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
      const pathOf = (path: string) => withoutTree({ PATH: path }, root)["PATH"]
      assert.strictEqual(pathOf(`${later}:${now}:/bin`), `${now}:/bin`)
      assert.include(pathOf(later), "/usr/bin:")
    } finally {
      rmSync(root, { recursive: true, force: true })
    }
  })

  it("in the tree are noted for quality gates, which find them first where they run in the sandbox", () => {
    const root = mkdtempSync(join(tmpdir(), "reprise-path-"))
    try {
      const below = join(root, "packages", "one")
      mkdirSync(below, { recursive: true })
      writeFileSync(join(root, ".git"), "gitdir: elsewhere\n")
      const bin = join(root, "node_modules", ".bin")
      const environment = withoutTree({ PATH: `${bin}:/bin`, HOME: "/home/me" }, below)
      assert.deepStrictEqual(environment, { PATH: "/bin", HOME: "/home/me", [treePathVariable]: bin })
      const outside = commandEnvironment(environment, [])["PATH"]
      assert.strictEqual(outside, "/bin")
      assert.strictEqual(pathFrom(commandsOfTree(environment, []), outside), `${bin}:/bin`)
      // A repository inside of another may be a command's.
      mkdirSync(join(root, "packages", ".git"))
      assert.strictEqual(withoutTree({ PATH: `${bin}:/bin`, HOME: "/home/me" }, below)["PATH"], "/bin")
      mkdirSync(bin, { recursive: true })
      symlinkSync(root, join(root, "..", `${basename(root)}-link`))
      const linked = join(root, "..", `${basename(root)}-link`, "node_modules", ".bin")
      try {
        assert.strictEqual(withoutTree({ PATH: `${linked}:/bin`, HOME: "/home/me" }, below)["PATH"], "/bin")
      } finally {
        rmSync(join(root, "..", `${basename(root)}-link`))
      }
      rmSync(join(root, "packages", ".git"), { recursive: true })
      // A run's worktree lies in the repository.
      const worktree = join(root, ".reprise", "worktrees", "run-1")
      mkdirSync(worktree, { recursive: true })
      writeFileSync(join(worktree, ".git"), "gitdir: elsewhere\n")
      assert.strictEqual(withoutTree({ PATH: `${bin}:/bin` }, worktree)["PATH"], "/bin")
      // Somebody keeps the home folder in git: all of their programs are in it.
      assert.strictEqual(withoutTree({ PATH: `${bin}:/bin`, HOME: root }, below)["PATH"], `${bin}:/bin`)
    } finally {
      rmSync(root, { recursive: true, force: true })
    }
  })
})

describe("variables by which programs take code", () => {
  const inTree = () => {
    const root = mkdtempSync(join(tmpdir(), "reprise-variables-"))
    mkdirSync(join(root, ".git"))
    mkdirSync(join(root, "lib"))
    return { root, [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) }
  }

  it("lose what leads to the tree, which is noted for the commands that get them", () => {
    using made = inTree()
    const lib = join(made.root, "lib")
    const environment = withoutTree(
      {
        PATH: "/bin",
        LD_LIBRARY_PATH: `/usr:${lib}`,
        NODE_PATH: lib,
        TMPDIR: lib,
        NODE_OPTIONS: "--max-old-space-size=1"
      },
      made.root
    )
    assert.deepStrictEqual(commandEnvironment(environment, ["NODE_OPTIONS", "NODE_PATH"]), {
      PATH: "/bin",
      LD_LIBRARY_PATH: "/usr",
      NODE_OPTIONS: "--max-old-space-size=1"
    })
    const own = { LD_LIBRARY_PATH: `/usr:${lib}`, TMPDIR: lib }
    assert.deepStrictEqual(commandsOfTree(environment, []).variables, own)
    assert.deepStrictEqual(commandsOfTree(environment, ["NODE_PATH"]).variables, { ...own, NODE_PATH: lib })
    assert.deepStrictEqual(loadedFromTree(environment, made.root), ["LD_LIBRARY_PATH"])
  })

  it("lose what does not exist, which a command may be able to make, without a word about it", () => {
    using made = inTree()
    const environment = withoutTree({ PATH: "/bin", LD_LIBRARY_PATH: "/nonexistent:/usr" }, made.root)
    assert.strictEqual(environment["LD_LIBRARY_PATH"], "/usr")
    assert.deepStrictEqual(loadedFromTree(environment, made.root), [])
  })

  it("lose what leads to the tree by a link, whether it is there or not", () => {
    using made = inTree()
    using other = inTree()
    const link = join(other.root, "link")
    symlinkSync(made.root, link)
    const { LD_LIBRARY_PATH, NODE_OPTIONS } = withoutPlaces(
      { LD_LIBRARY_PATH: `${link}/lib:${link}/later:/usr`, NODE_OPTIONS: `--import ${link}/later.mjs` },
      [made.root]
    )
    assert.deepStrictEqual([LD_LIBRARY_PATH, NODE_OPTIONS], ["/usr", undefined])
  })
})
