/** A working tree is compared with its commit together with its submodules, however many a command makes of one repository. */
import { execFileSync } from "node:child_process"
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type ComparisonLimits, differencesFromCommit, whyOfSubmodule } from "../src/nestedTrees.ts"
import { fileNamesOfPhase, localSettings, phasesFolder, stateFolder } from "../src/workingTree.ts"

const repository = Effect.acquireRelease(
  Effect.sync(() => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "reprise-nested-")))
    const git = (directory: string, ...args: ReadonlyArray<string>) =>
      execFileSync(
        "git",
        ["-C", join(root, directory), "-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...args],
        { encoding: "utf8", stdio: "pipe" }
      ).trim()
    const write = (path: string, text: string) => {
      mkdirSync(join(root, path, ".."), { recursive: true })
      writeFileSync(join(root, path), text)
    }
    const commit = (directory: string) => {
      git(directory, "add", "--all")
      git(directory, "commit", "--quiet", "--allow-empty", "-m", "work")
      return git(directory, "rev-parse", "HEAD")
    }
    const make = (directory: string) => {
      mkdirSync(join(root, directory), { recursive: true })
      git(directory, "init", "--quiet")
      write(join(directory, "a.txt"), "a\n")
      return commit(directory)
    }
    make(".")
    const compare = (limits?: ComparisonLimits) =>
      differencesFromCommit(
        root,
        git(".", "rev-parse", "HEAD"),
        {
          folder: join(root, ".reprise/trees/one"),
          gitDirectory: join(root, ".git"),
          when: "after",
          removeEmpty: () => Effect.succeed([])
        },
        {},
        limits
      )
    write(".git/info/exclude", ".reprise/\n")
    return { root, git, write, commit, make, compare }
  }),
  ({ root }) => Effect.sync(() => rmSync(root, { recursive: true, force: true }))
)
type Repository = Effect.Success<typeof repository>

/** So many submodules in each of some levels, all of which share one git directory. */
const spread = ({ git, root, write }: Repository, breadth: number, levels: number) => {
  mkdirSync(join(root, ".git/shared"))
  git(".git/shared", "init", "--quiet", "--bare")
  const names = Array.from({ length: breadth }, (_, at) => `s${at}`)
  const commitOf = (below: string | undefined) => {
    const lines = below === undefined ? "" : names.map((name) => `160000 commit ${below}\t${name}\n`).join("")
    const tree = execFileSync("git", ["-C", join(root, ".git/shared"), "mktree", "--missing"], { input: lines })
    return git(".git/shared", "commit-tree", "-m", "level", tree.toString().trim())
  }
  let below: string | undefined
  for (let level = 0; level < levels; level++) below = commitOf(below)
  const place = (folder: string, left: number) => {
    if (left === 0) return
    for (const name of names) {
      write(join(folder, name, ".git"), `gitdir: ${join(root, ".git/shared")}\n`)
      place(join(folder, name), left - 1)
    }
  }
  place(".", levels)
  for (const name of names) git(".", "update-index", "--add", "--cacheinfo", `160000,${below},${name}`)
  git(".", "commit", "--quiet", "-m", "spread")
}

describe("submodules of a tree that is compared with its commit", () => {
  it.live("are compared up to a number, whatever repository they share", () =>
    Effect.gen(function* () {
      const made = yield* repository
      spread(made, 3, 3)
      const limits = { longestMs: 60_000 }
      const all = yield* made.compare({ ...limits, mostSubmodules: 39 })
      assert.notInclude(JSON.stringify(all), "Reprise compares")
      const some = yield* made.compare({ ...limits, mostSubmodules: 38 })
      assert.deepInclude(some, {
        path: "s0",
        why: "is not compared: there are more submodules with files than the 38 that Reprise compares. Remove some"
      })
    })
  )

  it.live("are compared up to a depth", () =>
    Effect.gen(function* () {
      const made = yield* repository
      spread(made, 1, 9)
      assert.deepInclude(yield* made.compare(), {
        path: "s0",
        why: "has submodules in submodules 9 deep, and Reprise compares 8: remove the deepest"
      })
    })
  )

  it.live("are compared up to a time", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const failure = yield* Effect.flip(made.compare({ mostSubmodules: 10, longestMs: 1 }))
      assert.strictEqual(failure.reason, "busy")
      assert.include(failure.message, "it took more than 0.001 s to compare with the commit")
    })
  )

  it.live("are told of with what differs in them", () =>
    Effect.gen(function* () {
      const { commit, compare, git, make, root, write } = yield* repository
      make("library")
      make("library/inner")
      commit("library")
      commit(".")
      assert.deepStrictEqual(yield* compare(), [])
      for (const name of ["b", "c", "d", "e"]) write(`library/${name}.txt`, "x\n")
      write("library/inner/a.txt", "b\n")
      const before = git("library", "rev-parse", "HEAD")
      const told = yield* compare()
      assert.deepStrictEqual(told, [
        {
          path: "library",
          why: "differs from its commit: b.txt; c.txt; d.txt; and 1 more. Commit or restore that inside, then commit the submodule"
        }
      ])
      git("library", "add", "*.txt")
      git("library", "commit", "--quiet", "-m", "more")
      git(".", "add", "library")
      git(".", "commit", "--quiet", "-m", "more")
      assert.deepStrictEqual(yield* compare(), [
        {
          path: "library",
          why: "differs from its commit in its submodule inner: a.txt. Commit or restore that inside, then commit the submodule"
        }
      ])
      git("library/inner", "checkout", "--quiet", "a.txt")
      assert.deepStrictEqual(yield* compare(), [])
      rmSync(join(root, "library/.git/objects", before.slice(0, 2), before.slice(2)))
      rmSync(join(root, "library/.git/objects"), { recursive: true })
      const [unreadable] = yield* compare()
      assert.match(
        unreadable?.why ?? "",
        /^differs from its commit: commit [0-9a-f]{40}, which cannot be read as a whole/
      )
    })
  )

  it.live.each([
    {
      name: "a link to a folder that holds the same",
      change: ({ root }: Repository) => {
        renameSync(join(root, "library"), join(root, ".reprise/moved"))
        symlinkSync(".reprise/moved", join(root, "library"))
      },
      why: /^is a link, and a folder in the commit: remove it$/
    },
    {
      name: "a link that leads nowhere",
      change: ({ root }: Repository) => {
        rmSync(join(root, "library"), { recursive: true })
        symlinkSync("/nowhere/library", join(root, "library"))
      },
      why: /^is a link, and a folder in the commit: remove it$/
    },
    {
      name: "a file",
      change: ({ root }: Repository) => {
        rmSync(join(root, "library"), { recursive: true })
        writeFileSync(join(root, "library"), "")
      },
      why: /^holds files that are not a checkout of its submodule: remove them$/
    },
    {
      name: "a .git that is not a pointer",
      change: ({ root, write }: Repository) => {
        rmSync(join(root, "library/.git"), { recursive: true })
        write("library/.git", "x".repeat(100_000))
      },
      why: /^has a .git that cannot be read: remove its folder, and check it out again/
    },
    ...["HEAD", "HEAD^{tree}"].map((name) => ({
      name: `a false object in the place of its ${name}`,
      change: ({ git, root, write }: Repository) => {
        const hash = git("library", "rev-parse", name)
        write("library/a.txt", "forged\n")
        git("library", "commit", "--quiet", "--all", "-m", "forged")
        const other = git("library", "rev-parse", name)
        const file = (one: string) => join(root, "library/.git/objects", one.slice(0, 2), one.slice(2))
        rmSync(file(hash))
        copyFileSync(file(other), file(hash))
      },
      // Some versions of git look at the commit and its tree themselves.
      why: /^differs from its commit: .*which (does not hold what its name says|cannot be read as a whole)/
    })),
    {
      name: "an index that git cannot read",
      change: ({ write }: Repository) => write("library/.git/index", "no index\n"),
      why: /^cannot be compared \(git ls-files ended with 128: .*\): remove its folder, and check it out again/s
    }
  ])("are told of if one is $name", ({ change, why }) =>
    Effect.gen(function* () {
      const made = yield* repository
      made.make("library")
      made.commit(".")
      assert.deepStrictEqual(yield* made.compare(), [])
      change(made)
      const [told] = yield* made.compare()
      assert.strictEqual(told?.path, "library")
      assert.match(told?.why ?? "", why)
    })
  )
})

const rulesOfReprise = `${[
  `${stateFolder}/`,
  `/${localSettings}`,
  ...fileNamesOfPhase.map((name) => `/${phasesFolder}/*/${name}`)
].join("\n")}\n`

describe("a submodule, in which git obeys the rules that Reprise made for the repository around it", () => {
  it.live.each([
    ".reprise/__mocks__/a.js",
    "reprise.local.toml",
    "reprise.local.toml/a.js",
    ".planning/phases/1/SUMMARY.md",
    ".planning/phases/1/.continuation-state.json/a.js"
  ])("is told of with %s, however deep it is", (path) =>
    Effect.gen(function* () {
      const made = yield* repository
      made.make("library")
      made.make("library/inner")
      made.commit("library")
      made.commit(".")
      made.write(".git/info/exclude", rulesOfReprise)
      assert.deepStrictEqual(yield* made.compare(), [])
      made.write(`library/inner/${path}`, "x\n")
      const [told] = yield* made.compare()
      assert.strictEqual(told?.path, "library")
      assert.include(told?.why, ` in its submodule inner: ${path}, which is hidden by a rule that Reprise itself made`)
    })
  )
})

describe("what differs in a submodule", () => {
  it("is told with its own reason", () => {
    const found = [{ path: "x.sh", why: "is not as git would check it out" }, { path: "y" }]
    assert.strictEqual(
      whyOfSubmodule("", found),
      "differs from its commit: x.sh, which is not as git would check it out; y. Commit or restore that inside, then commit the submodule"
    )
  })
})
