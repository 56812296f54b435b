/** What git of this machine says about itself, and what becomes of a repository of which it says nothing. */
import { execFileSync } from "node:child_process"
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { mkdtemp, realpath } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { gitPlacesOf } from "../src/git/gitPlaces.ts"

interface Here {
  readonly home: string
  readonly workspace: string
  readonly environment: Readonly<Record<string, string | undefined>>
}

const git = ({ environment, workspace }: Here, ...args: ReadonlyArray<string>) =>
  execFileSync("git", args, { cwd: workspace, env: environment, stdio: "pipe", encoding: "utf8" })

const here = Effect.acquireRelease(
  Effect.promise(async (): Promise<Here> => {
    const root = await realpath(await mkdtemp(join(tmpdir(), "reprise-places-")))
    const home = join(root, "home")
    const workspace = join(root, "work")
    for (const folder of [home, workspace]) mkdirSync(folder)
    const it = { home, workspace, environment: { PATH: process.env["PATH"], HOME: home } }
    git(it, "init", "-q")
    return it
  }),
  ({ workspace }) => Effect.sync(() => rmSync(join(workspace, ".."), { recursive: true, force: true }))
)

const obeyed = ({ environment, workspace }: Here, more: Here["environment"] = {}) =>
  Effect.promise(async () => (await gitPlacesOf(workspace, { ...environment, ...more }))?.obeyed ?? [])

const refusal = ({ environment, workspace }: Here, more: Here["environment"] = {}) =>
  Effect.promise(() =>
    gitPlacesOf(workspace, { ...environment, ...more }).then(
      () => "",
      (error: unknown) => (error instanceof Error ? error.message : String(error))
    )
  )

/** A git that writes a line down for each start. */
const counting = ({ environment, home }: Here) => {
  const real = execFileSync("/bin/sh", ["-c", "command -v git"], { env: environment, encoding: "utf8" }).trim()
  const folder = join(home, "bin")
  const log = join(home, "starts")
  mkdirSync(folder)
  writeFileSync(join(folder, "git"), `#!/bin/sh\necho start >> '${log}'\nexec '${real}' "$@"\n`)
  chmodSync(join(folder, "git"), 0o755)
  const starts = () => (existsSync(log) ? readFileSync(log, "utf8").split("\n").length - 1 : 0)
  return { environment: { PATH: `${folder}:${environment["PATH"]}` }, starts }
}

describe("what the git of a workspace obeys", () => {
  it.live("is named by the configuration that variables name, too", () =>
    Effect.gen(function* () {
      const it = yield* here
      const own = join(it.home, "own")
      writeFileSync(own, `[core]\n\thooksPath = "own hooks" # mine\n`)
      const variables = {
        GIT_CONFIG_GLOBAL: own,
        GIT_CONFIG_COUNT: "1",
        GIT_CONFIG_KEY_0: "core.attributesFile",
        GIT_CONFIG_VALUE_0: "counted",
        GIT_SSH_COMMAND: "./ssh"
      }
      const found = yield* obeyed(it, variables)
      assert.includeMembers(
        [...found],
        [own, ...["own hooks", "counted", "ssh"].map((name) => join(it.workspace, name))]
      )
      assert.includeMembers([...found], [join(it.home, ".gitconfig"), join(it.home, ".config", "git", "config")])
      assert.notInclude([...(yield* obeyed(it))], join(it.workspace, "counted"), "in another environment")
    })
  )

  it.live("is asked again when a file changed that git read, and only then", () =>
    Effect.gen(function* () {
      const it = yield* here
      writeFileSync(join(it.workspace, "shared"), "")
      git(it, "config", "include.path", "../shared")
      git(it, "config", "core.excludesFile", "~/ignored")
      const { environment, starts } = counting(it)
      const startsOfOne = Effect.gen(function* () {
        const before = starts()
        yield* obeyed(it, environment)
        return starts() - before
      })
      assert.isAtMost(yield* startsOfOne, 4, "where it is, what it says, an included file without a value, and '~'")
      // What changed just now is asked about again.
      yield* Effect.repeat(startsOfOne, { until: (count) => count === 0 })
      writeFileSync(join(it.workspace, "shared"), "[core]\n\thooksPath = later\n")
      assert.include([...(yield* obeyed(it, environment))], join(it.workspace, "later"), "an included file changed")
      writeFileSync(join(it.home, ".gitconfig"), `[core]\n\thooksPath = mine\n`)
      assert.include([...(yield* obeyed(it, environment))], join(it.workspace, "mine"), "one that was not there")
    })
  )

  it.live("ends where includes are a circle, or lead further than git goes", () =>
    Effect.gen(function* () {
      const it = yield* here
      git(it, "config", "includeIf.onbranch:other.path", "../a0")
      for (let n = 0; n < 30; n++) {
        writeFileSync(join(it.workspace, `a${n}`), `[include]\n\tpath = a${n + 1}\n\tpath = a${n}\n\tpath = a0\n`)
      }
      const found = yield* obeyed(it)
      assert.includeMembers(
        [...found],
        ["a0", "a10"].map((name) => join(it.workspace, name))
      )
      assert.notInclude([...found], join(it.workspace, "a20"))
    })
  )

  it.live("is every hook by its name where the working tree is the folder of the hooks", () =>
    Effect.gen(function* () {
      const it = yield* here
      git(it, "config", "core.hooksPath", ".")
      const found = yield* obeyed(it)
      assert.include([...found], join(it.workspace, "pre-commit"))
      assert.notInclude([...found], it.workspace)
    })
  )

  it.live("is what husky's hooks call, beside them", () =>
    Effect.gen(function* () {
      const it = yield* here
      git(it, "config", "core.hooksPath", ".husky/_")
      assert.include([...(yield* obeyed(it))], join(it.workspace, ".husky"))
    })
  )

  it.live("is the same in another worktree inside of the workspace, and what bears commands at its top", () =>
    Effect.gen(function* () {
      const it = yield* here
      git(it, "-c", "user.name=a", "-c", "user.email=a", "commit", "-q", "--allow-empty", "-m", "x")
      git(it, "worktree", "add", "-q", ".worktrees/f")
      git(it, "config", "core.hooksPath", ".husky/_")
      git(it, "config", "filter.x.clean", "./tools/clean")
      assert.includeMembers(
        [...(yield* obeyed(it))],
        [".husky", "tools/clean", ".claude", "reprise.toml"].map((name) => join(it.workspace, ".worktrees", "f", name))
      )
    })
  )

  it.live("is a file in a folder that a command line goes to, or finds programs in", () =>
    Effect.gen(function* () {
      const it = yield* here
      mkdirSync(join(it.workspace, "tools"))
      for (const name of ["x", "y"]) writeFileSync(join(it.workspace, "tools", name), "")
      git(it, "config", "alias.x", "!cd tools && ./x")
      git(it, "config", "filter.y.clean", "env PATH=tools:$PATH y")
      assert.includeMembers(
        [...(yield* obeyed(it))],
        ["x", "y"].map((name) => join(it.workspace, "tools", name))
      )
    })
  )

  it.live("is beside what a link leads to, where a path goes on behind it", () =>
    Effect.gen(function* () {
      const it = yield* here
      const elsewhere = join(it.workspace, "deep", "git")
      mkdirSync(join(elsewhere, ".."))
      execFileSync("mv", [join(it.workspace, ".git"), elsewhere])
      symlinkSync("deep/git", join(it.workspace, ".git"))
      git(it, "config", "include.path", "../beside")
      assert.include([...(yield* obeyed(it))], join(it.workspace, "deep", "beside"))
    })
  )

  it.live("is in the working tree where a link in git's directory leads there, and nothing in that directory", () =>
    Effect.gen(function* () {
      const it = yield* here
      rmSync(join(it.workspace, ".git", "hooks"), { recursive: true })
      mkdirSync(join(it.workspace, "own", "hooks"), { recursive: true })
      symlinkSync("../own/hooks", join(it.workspace, ".git", "hooks"))
      symlinkSync("../../own/ignored", join(it.workspace, ".git", "info", "attributes"))
      const found = yield* obeyed(it)
      assert.includeMembers(
        [...found],
        ["own/hooks", "own/ignored"].map((name) => join(it.workspace, name))
      )
      assert.deepStrictEqual(
        found.filter((path) => path.startsWith(join(it.workspace, ".git/"))),
        []
      )
    })
  )

  it.live("is not known without a repository, and nothing is asked then", () =>
    Effect.gen(function* () {
      const it = yield* here
      rmSync(join(it.workspace, ".git"), { recursive: true })
      assert.strictEqual(yield* Effect.promise(() => gitPlacesOf(it.workspace, { PATH: "" })), undefined)
    })
  )
})

/** Adds to the configuration what is no UTF-8: each character is a byte. */
const append = ({ workspace }: Here, text: string) =>
  appendFileSync(join(workspace, ".git", "config"), Buffer.from(text, "latin1"))

describe("a configuration that is no UTF-8", () => {
  it.live.each([
    ["a folder of hooks", "[core]\n\thooksPath = h\xff\n", "of core.hookspath"],
    ["a file of attributes", "[core]\n\tattributesFile = ../h\xff\n", "of core.attributesfile"],
    ["a program", "[diff]\n\texternal = sh ./h\xff --x\n", "of diff.external"],
    ["a file of configuration that is there", "[include]\n\tpath = h\xff\n", "is no UTF-8"],
    [
      "one that counts for another branch",
      '[includeIf "onbranch:x"]\n\tpath = h\xff\n',
      "of includeif.onbranch:x.path"
    ],
    ["a working tree", "[core]\n\tworktree = ../h\xff\n", "of core.worktree"]
  ] as const)("has the sandbox refused where a path in it would be another one: %s", ([, text, expected]) =>
    Effect.gen(function* () {
      const it = yield* here
      execFileSync("sh", ["-c", "d=$(printf '.git/h\\377'); echo '[user]' > \"$d\""], { cwd: it.workspace })
      execFileSync("sh", ["-c", "mkdir \"$(printf 'h\\377')\""], { cwd: it.workspace })
      append(it, text)
      assert.include(yield* refusal(it), expected)
    })
  )

  it.live("has it refused where a variable names a program so", () =>
    Effect.gen(function* () {
      assert.include(yield* refusal(yield* here, { GIT_EDITOR: "./h\ufffd" }), '"./h\ufffd" is no UTF-8')
    })
  )

  it.live("is taken where it is no path that is written so", () =>
    Effect.gen(function* () {
      const it = yield* here
      append(it, '[user]\n\tname = J\xf6rg\n[remote "\xfc"]\n\turl = x\n')
      assert.strictEqual(yield* refusal(it), "")
    })
  )
})

describe("the sandbox is refused, with the reason", () => {
  it.live.each([
    ["git is not installed", () => undefined, { PATH: "/nowhere" }, "git could not be run"],
    [
      "the configuration is broken",
      (it: Here) => writeFileSync(join(it.workspace, ".git", "config"), "[broken"),
      {},
      "bad config line"
    ],
    ["there is no HEAD", (it: Here) => rmSync(join(it.workspace, ".git", "HEAD")), {}, "not a git repository"],
    [
      "HEAD is a pipe",
      (it: Here) => execFileSync("/bin/sh", ["-c", 'rm "$0" && mkfifo "$0"', join(it.workspace, ".git", "HEAD")]),
      {},
      "HEAD is a named pipe"
    ],
    [
      "a file of the configuration is larger than any",
      (it: Here) => {
        git(it, "config", "includeIf.onbranch:other.path", "../large")
        writeFileSync(join(it.workspace, "large"), "#".repeat(1024 * 1024 + 1))
      },
      {},
      "too many for a configuration"
    ]
  ] as const)("where %s", ([, prepare, more, expected]) =>
    Effect.gen(function* () {
      const it = yield* here
      prepare(it)
      assert.include(yield* refusal(it, more), expected)
    })
  )
})
