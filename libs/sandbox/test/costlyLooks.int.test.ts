/** What a command can make many of behind a configuration: the look at it ends, and says why. */
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeConfigurationReader } from "../src/nested/configurationReader.ts"
import { TooMuchToLookAt } from "../src/nested/lookLimits.ts"
import { nestedRepositories } from "../src/nested/nestedRepositories.ts"
import type { Place } from "../src/nested/treeSearch.ts"

const folderOf = Effect.acquireRelease(
  Effect.sync(() => realpathSync(mkdtempSync(join(tmpdir(), "reprise-many-")))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

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
