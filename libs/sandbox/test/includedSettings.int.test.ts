/** A user's repository inside of a workspace whose configuration includes files of the tree, which commands can change. */
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeConfigurationReader } from "../src/nested/configurationReader.ts"
import { nestedRepositories } from "../src/nested/nestedRepositories.ts"

const scene = Effect.acquireRelease(
  Effect.sync(() => realpathSync(mkdtempSync(join(tmpdir(), "reprise-included-")))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** What the repository `sub` includes, and the file that a command changes later. */
const cases: ReadonlyArray<readonly [what: string, setUp: (workspace: string) => string]> = [
  [
    "an included file",
    (at) => {
      writeFileSync(join(at, "shared", "config"), "[core]\n\tfsmonitor = ../tools/run.sh\n")
      return "[include]\n\tpath = ../../shared/config\n"
    }
  ],
  [
    "a file that an included file includes, behind a link",
    (at) => {
      writeFileSync(join(at, "shared", "first"), "[include]\n\tpath = second\n")
      symlinkSync("third", join(at, "shared", "second"))
      writeFileSync(join(at, "shared", "third"), "[core]\n\tfsmonitor = ../tools/run.sh\n")
      return "[include]\n\tpath = ../../shared/first\n"
    }
  ],
  [
    "a file that is included on a condition, and itself",
    (at) => {
      writeFileSync(
        join(at, "shared", "config"),
        "[include]\n\tpath = config\n[diff]\n\texternal = ../tools/run.sh --fast\n"
      )
      return '[includeIf "onbranch:x.y/**"]\n\tpath = ../../shared/config\n'
    }
  ],
  [
    "a folder of hooks with more than a thousand files",
    (at) => {
      for (let n = 0; n < 1100; n++) writeFileSync(join(at, "tools", `file${n}`), "")
      return "\thooksPath = ../tools\n"
    }
  ]
]

describe("the program that a user's repository inside of a workspace runs", () => {
  it.live.each(cases)("is another one for whoever compares, where %s names it", ([, setUp]) =>
    Effect.gen(function* () {
      const workspace = yield* scene
      const stateDirectory = join(workspace, ".reprise")
      for (const name of [".reprise", "tools", "shared"]) mkdirSync(join(workspace, name))
      execFileSync("git", ["init", "--quiet", join(workspace, "sub")])
      const program = join(workspace, "tools", "run.sh")
      writeFileSync(program, "exit 1\n")
      const configuration = join(workspace, "sub", ".git", "config")
      writeFileSync(configuration, `[core]\n\trepositoryformatversion = 0\n${setUp(workspace)}`)
      const place = {
        workspace,
        stateDirectory,
        git: undefined,
        search: "/usr/bin:/bin",
        hooks: [],
        namedIn: async () => []
      }
      const look = nestedRepositories(place, makeConfigurationReader())
      const digests = Effect.map(look, ({ found }) => found.map(({ digest }) => digest))
      const first = yield* digests
      assert.strictEqual(first.length, 1)
      assert.deepStrictEqual(yield* digests, first)
      writeFileSync(program, "touch ran; exit 1\n")
      assert.notDeepEqual(yield* digests, first)
    })
  )

  it.live("cannot be told where an included file is too large to be read, and that file is named", () =>
    Effect.gen(function* () {
      const workspace = yield* scene
      mkdirSync(join(workspace, ".reprise"))
      execFileSync("git", ["init", "--quiet", join(workspace, "sub")])
      const included = join(workspace, "large")
      writeFileSync(included, `[core]\n\tfsmonitor = ../tools/run.sh\n${"# more\n".repeat(200_000)}`)
      writeFileSync(join(workspace, "sub", ".git", "config"), "[include]\n\tpath = ../../large\n")
      const place = {
        workspace,
        stateDirectory: join(workspace, ".reprise"),
        git: undefined,
        search: "/usr/bin:/bin",
        hooks: [],
        namedIn: async () => []
      }
      const failure = yield* Effect.flip(nestedRepositories(place, makeConfigurationReader()))
      assert.include(failure.message, `${included} has more than 1048576 bytes`)
    })
  )
})
