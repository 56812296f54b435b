/** What a command can make many of in git's own directory, or behind a configuration: Reprise's look at it ends, and says why. */
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeConfigurationReader } from "../src/configurationReader.ts"
import { gitDirectoriesOf, TooManyGitDirectories, UnclearGitDirectory } from "../src/gitDirectories.ts"
import { TooMuchToLookAt } from "../src/lookLimits.ts"
import { nestedRepositories } from "../src/nestedRepositories.ts"
import { putAsideStray, TooManyStrayEntries } from "../src/strayEntries.ts"
import { scene } from "../src/testing.ts"
import type { Place } from "../src/treeSearch.ts"
import { during } from "./support/sandboxedScene.ts"

const folderOf = Effect.acquireRelease(
  Effect.sync(() => realpathSync(mkdtempSync(join(tmpdir(), "reprise-many-")))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

const gitDirectoryAt = (path: string) => {
  for (const name of ["objects", "refs"]) mkdirSync(join(path, name), { recursive: true })
  writeFileSync(join(path, "HEAD"), "ref: refs/heads/main\n")
}

describe("many folders in git's directory", () => {
  it.live("end the look with a sentence that names where they are", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const failure = yield* during(here, (sandbox) =>
        Effect.gen(function* () {
          for (let n = 0; n <= 5_000; n++) mkdirSync(join(here.workspace, ".git/worktrees", `${n}`))
          return yield* Effect.flip(sandbox.tidy(here.workspace))
        })
      )
      assert.match(failure.message, /more than 5000 folders .* in .*\.git\/worktrees\. .*git worktree prune/)
    })
  )

  it.each<[string, (common: string) => void]>([
    [
      "worktrees",
      (common) => [0, 1, 2, 3].map((n) => mkdirSync(join(common, "worktrees", `${n}`), { recursive: true }))
    ],
    ["submodules", (common) => [0, 1, 2, 3].map((n) => gitDirectoryAt(join(common, "modules", `${n}`)))],
    [
      "folders around submodules",
      (common) => [0, 1, 2, 3].map((n) => mkdirSync(join(common, "modules", "a", `${n}`), { recursive: true }))
    ],
    [
      "worktrees of submodules",
      (common) => {
        gitDirectoryAt(join(common, "modules", "s"))
        for (const n of [0, 1, 2, 3]) mkdirSync(join(common, "modules", "s", "worktrees", `${n}`), { recursive: true })
      }
    ],
    [
      "submodules of worktrees",
      (common) => [0, 1, 2].map((n) => gitDirectoryAt(join(common, "worktrees", "w", "modules", `${n}`)))
    ],
    [
      "files beside submodules",
      (common) => {
        mkdirSync(join(common, "modules"), { recursive: true })
        for (let n = 0; n < 30; n++) writeFileSync(join(common, "modules", `${n}`), "")
      }
    ]
  ])("are refused where they are %s", async (_, make) => {
    const common = realpathSync(mkdtempSync(join(tmpdir(), "reprise-many-")))
    make(common)
    const failure = await gitDirectoriesOf({ common }, { mostFolders: 3, mostEntries: 20 }).catch((error) => error)
    rmSync(common, { recursive: true, force: true })
    assert.instanceOf(failure, TooManyGitDirectories)
  })

  it("are all known where they are as many as may be", async () => {
    const common = realpathSync(mkdtempSync(join(tmpdir(), "reprise-many-")))
    mkdirSync(join(common, "worktrees", "w"), { recursive: true })
    gitDirectoryAt(join(common, "modules", "a", "s"))
    gitDirectoryAt(join(common, "modules", "a", "s", "modules", "t"))
    const found = await gitDirectoriesOf({ common }, { mostFolders: 4, mostEntries: 20 })
    rmSync(common, { recursive: true, force: true })
    assert.deepStrictEqual(found, {
      repositories: [common, join(common, "modules/a/s"), join(common, "modules/a/s/modules/t")],
      worktrees: [join(common, "worktrees/w")]
    })
  })
})

/** `path`: of a folder below git's directory, as bytes of latin1. */
const folderAt = (common: string, path: string) =>
  mkdirSync(Buffer.concat([Buffer.from(`${common}/`), Buffer.from(path, "latin1")]), { recursive: true })

describe("a folder where git keeps submodules and worktrees", () => {
  const found = (make: (common: string) => void) =>
    Effect.gen(function* () {
      const common = yield* folderOf
      make(common)
      return yield* Effect.tryPromise({ try: () => gitDirectoriesOf({ common }), catch: (error) => error }).pipe(
        Effect.map(({ repositories }) => repositories.slice(1).map((one) => one.slice(common.length + 1)))
      )
    })

  it.live.each<[string, (common: string) => void]>([
    ["no text", (common) => folderAt(common, "modules/n\xff")],
    ["two lines", (common) => folderAt(common, "modules/a/x\n=0=/home/user/.bashrc\ny")],
    ["two lines, of a worktree", (common) => folderAt(common, "worktrees/x\ny")],
    [
      "too long with its folders",
      (common) => folderAt(common, `modules/${`${"d".repeat(200)}/`.repeat(19)}${"e".repeat(100)}`)
    ]
  ])("ends the look where its name is %s", ([, make]) =>
    Effect.gen(function* () {
      const failure = yield* Effect.flip(found(make))
      assert.instanceOf(failure, UnclearGitDirectory)
      assert.match(failure.message, /In ".*(?:modules|worktrees).*Remove it, or give it another name\.$/)
    })
  )

  it.live.each<[string, (common: string) => void, ReadonlyArray<string>]>([
    [
      "deep in others",
      (common) => gitDirectoryAt(join(common, "modules/a/b/c/d/e/f/g/h")),
      ["modules/a/b/c/d/e/f/g/h"]
    ],
    [
      "with a HEAD that is a link",
      (common) => {
        folderAt(common, "modules/link")
        symlinkSync("refs/heads/main", join(common, "modules/link/HEAD"))
      },
      ["modules/link"]
    ],
    [
      "below one that is not whole",
      (common) => {
        folderAt(common, "modules/a")
        writeFileSync(join(common, "modules/a/config"), "")
        gitDirectoryAt(join(common, "modules/a/objects/b"))
      },
      ["modules/a", "modules/a/objects/b"]
    ],
    [
      "called as files and folders of git's are",
      (common) => {
        for (const name of ["config", "hooks", "HEAD"]) gitDirectoryAt(join(common, "modules", name))
      },
      ["modules/HEAD", "modules/config", "modules/hooks"]
    ]
  ])("is known as a git directory %s", ([, make, expected]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual([...(yield* found(make))].toSorted(), expected)
    })
  )
})

describe("many links in git's directory", () => {
  it.live("are refused where they are more than can be moved away, and stay where they are", () =>
    Effect.gen(function* () {
      const folder = yield* folderOf
      const common = join(folder, ".git")
      mkdirSync(join(common, "refs", "made"), { recursive: true })
      const place = { sandboxFolder: join(folder, "sandbox"), environment: process.env }
      const repository = { workspace: folder, common, directory: common }
      yield* Effect.promise(() => putAsideStray(repository, place))
      for (let n = 0; n < 4; n++) symlinkSync("/etc/hostname", join(common, "refs", "made", `${n}`))
      const failure = yield* Effect.flip(
        Effect.tryPromise({ try: () => putAsideStray(repository, place, 3), catch: (e) => e })
      )
      assert.instanceOf(failure, TooManyStrayEntries)
      assert.match(
        failure.message,
        /more than 3 links, pipes, devices and symbolic refs, most of them in .*\/\.git\/refs\. .*Remove/
      )
      assert.strictEqual(readdirSync(join(common, "refs", "made")).length, 4)
    })
  )
})

interface Made {
  readonly workspace: string
  readonly spoiled: string
}

const write = (path: string, text = "") => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

const configured = (path: string, text: string) => {
  execFileSync("git", ["init", "--quiet", dirname(dirname(path))])
  write(path, `[core]\n\trepositoryformatversion = 0\n\tbare = false\n${text}`)
}

/** Each makes more than may be looked at, in one place. */
const costly: ReadonlyArray<readonly [string, (made: Made) => void]> = [
  [
    "values",
    ({ spoiled }) =>
      configured(spoiled, Array.from({ length: 300 }, (_, n) => `[alias]\n\ta${n} = !./run${n}\n`).join(""))
  ],
  [
    "words in one value",
    ({ spoiled }) =>
      configured(spoiled, `[alias]\n\ta = "!${Array.from({ length: 400 }, (_, n) => `./w${n}`).join(" ")}"\n`)
  ],
  [
    "working trees that values are relative to",
    ({ spoiled, workspace }) => {
      for (let n = 0; n < 100; n++) mkdirSync(join(workspace, "trees", `${n}`), { recursive: true })
      const trees = Array.from({ length: 100 }, (_, n) => `\tworktree = ${workspace}/trees/${n}\n`).join("")
      configured(spoiled, `${trees}\tfsmonitor = ./run\n\tpager = ./page\n`)
    }
  ],
  [
    "files in a folder that a value names",
    ({ spoiled }) => {
      configured(spoiled, "\thooksPath = hooks-made\n")
      for (let n = 0; n < 400; n++) write(join(dirname(dirname(spoiled)), "hooks-made", `${n}`))
    }
  ],
  [
    "content in files that a value names",
    ({ spoiled }) => {
      configured(spoiled, "\thooksPath = hooks-made\n")
      for (let n = 0; n < 2; n++) write(join(dirname(dirname(spoiled)), "hooks-made", `${n}`), "x".repeat(1024 * 1024))
    }
  ],
  [
    "configurations that git has to read",
    ({ workspace }) => {
      for (let n = 0; n < 30; n++) {
        for (const name of ["objects", "refs"])
          mkdirSync(join(workspace, "spoiled", `${n}`, ".git", name), { recursive: true })
        write(join(workspace, "spoiled", `${n}`, ".git", "HEAD"), "ref: refs/heads/main\n")
        write(join(workspace, "spoiled", `${n}`, ".git", "config"), `[user]\n\tname = ${n}\n`)
      }
    }
  ],
  [
    "files of skills",
    ({ workspace }) => {
      for (let n = 0; n < 400; n++) write(join(workspace, "spoiled", ".claude", "skills", `${n % 20}`, `${n}`))
    }
  ],
  [
    "folders of skills, one in the other",
    ({ workspace }) => mkdirSync(join(workspace, "spoiled", ".claude", "skills", "a/".repeat(400)), { recursive: true })
  ],
  [
    "files behind a pointer that leads nowhere",
    ({ workspace }) => {
      const git = join(workspace, "spoiled", ".git")
      for (const name of ["objects", "refs"]) mkdirSync(join(git, name), { recursive: true })
      write(join(git, "HEAD"), "ref: refs/heads/main\n")
      for (let n = 0; n < 400; n++) write(join(git, "commondir", `${n}`))
    }
  ]
]

describe("what a command made for programs outside to obey", () => {
  it.live.each(costly)(
    "is refused where there are more %s than can be compared, with the place that has most",
    ([, make]) =>
      Effect.gen(function* () {
        const folder = yield* folderOf
        const workspace = join(folder, "work")
        const stateDirectory = join(workspace, ".reprise")
        mkdirSync(stateDirectory, { recursive: true })
        configured(join(workspace, "another", ".git", "config"), "\tpager = less\n")
        make({ workspace, spoiled: join(workspace, "spoiled", ".git", "config") })
        const place: Place = {
          workspace,
          stateDirectory,
          git: undefined,
          hooks: [],
          search: "/usr/bin:/bin",
          namedIn: async () => []
        }
        const { fault } = yield* nestedRepositories(place, makeConfigurationReader(), { mostLooks: 300 })
        assert.instanceOf(fault, TooMuchToLookAt)
        assert.match(
          fault.message,
          /work has more skills, hooks .*in .*\/spoiled\. .*Remove what does not belong there\.$/
        )
      })
  )
})
