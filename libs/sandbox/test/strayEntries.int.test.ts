/** What lies in git's folders besides files and folders, when an agent's turn has ended. */
import { execFile, execFileSync } from "node:child_process"
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { mkdtemp, realpath } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { layerSandbox, Sandbox, type SandboxShape } from "../src/index.ts"
import { firstLinks, putAsideStray } from "../src/strayEntries.ts"
import { canSandbox } from "../src/testing.ts"

const sandboxed = await canSandbox()

interface Here {
  readonly home: string
  readonly workspace: string
  readonly stateDirectory: string
}

const environmentOf = ({ home }: Here) => ({ ...process.env, HOME: home })

const git = (here: Here, directory: string, ...args: ReadonlyArray<string>) =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.invalid", ...args], {
    cwd: directory,
    env: environmentOf(here),
    stdio: "pipe",
    encoding: "utf8",
    timeout: 20_000
  })

const here = Effect.acquireRelease(
  Effect.promise(async (): Promise<Here> => {
    const root = await realpath(await mkdtemp(join(tmpdir(), "reprise-stray-")))
    const it = {
      home: join(root, "home"),
      workspace: join(root, "work"),
      stateDirectory: join(root, "work", ".reprise")
    }
    for (const folder of [it.home, it.workspace, it.stateDirectory]) mkdirSync(folder)
    writeFileSync(join(it.home, "config"), "theirs\n")
    writeFileSync(join(it.workspace, ".gitignore"), ".reprise/\n")
    git(it, it.workspace, "init", "-q", "-b", "config")
    git(it, it.workspace, "add", ".")
    git(it, it.workspace, "commit", "-qm", "first")
    return it
  }),
  ({ home }) => Effect.sync(() => rmSync(dirname(home), { recursive: true, force: true }))
)

/** A process of Reprise's: what it knows is gone with it. */
const inProcess = <A, E>(it: Here, use: (sandbox: SandboxShape) => Effect.Effect<A, E>) =>
  Effect.flatMap(Sandbox, use).pipe(
    Effect.provide(
      layerSandbox({
        mode: "required",
        gates: true,
        settings: { write: [], read: [], deny: [], network: [] },
        stateDirectory: it.stateDirectory,
        environment: environmentOf(it)
      })
    ),
    Effect.scoped
  )

/** As by another program of the user's: commands write a clone. */
const outside = (sandbox: SandboxShape, it: Here, text: string) =>
  Effect.map(sandbox.shellFor(it.workspace, "author"), () =>
    execFileSync("/bin/sh", ["-c", text], { cwd: it.workspace, env: environmentOf(it), stdio: "pipe" })
  )

const command = (sandbox: SandboxShape, { workspace, ...it }: Here, text: string) =>
  Effect.flatMap(sandbox.shellFor(workspace, "author"), (shell) =>
    // This process answers what the command's program asks.
    Effect.callback<void>((resume) => {
      const where = { cwd: workspace, env: environmentOf({ workspace, ...it }) }
      execFile(shell, ["-c", text], where, () => resume(Effect.void))
    })
  )

const at = ({ workspace }: Here, path: string) => join(workspace, ".git", path)
const kindOf = (path: string) => {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found?.isSymbolicLink() ? "link" : found?.isFIFO() ? "pipe" : found === undefined ? "nothing" : "file"
}

describe.skipIf(!sandboxed)("a link in git's folders", () => {
  it.live("does not lead the next commit into a file of the user's, though it has the name of the branch", () =>
    Effect.gen(function* () {
      const it = yield* here
      yield* inProcess(it, (sandbox) =>
        Effect.gen(function* () {
          yield* outside(sandbox, it, `ln -sf ${it.home}/config .git/logs/refs/heads/config`)
          yield* sandbox.tidy(it.workspace)
        })
      )
      git(it, it.workspace, "commit", "-q", "--allow-empty", "-m", "ProxyCommand evil")
      assert.strictEqual(execFileSync("cat", [join(it.home, "config")], { encoding: "utf8" }), "theirs\n")
    })
  )

  it.live("does not lead there from the log of a branch whose name is no text either", () =>
    Effect.gen(function* () {
      const it = yield* here
      yield* inProcess(it, (sandbox) =>
        Effect.gen(function* () {
          const branch = "$(printf 'b\\377')"
          const make = `git symbolic-ref HEAD "refs/heads/${branch}" && ln -sf ${it.home}/config ".git/logs/refs/heads/${branch}"`
          yield* outside(sandbox, it, make)
          yield* sandbox.tidy(it.workspace)
        })
      )
      git(it, it.workspace, "commit", "-q", "--allow-empty", "-m", "ProxyCommand evil")
      assert.strictEqual(execFileSync("cat", [join(it.home, "config")], { encoding: "utf8" }), "theirs\n")
    })
  )

  it.live("and a folder that no line can name take nothing else away, and are moved themselves", () =>
    Effect.gen(function* () {
      const it = yield* here
      yield* inProcess(it, (sandbox) =>
        Effect.gen(function* () {
          const forged = `.git/modules/x\n${it.home}/config`
          yield* outside(sandbox, it, `mkdir -p '${forged}' && touch '${forged}/HEAD'`)
          yield* sandbox.tidy(it.workspace)
          yield* command(sandbox, it, "kill -9 $PPID")
          yield* sandbox.tidy(it.workspace)
        })
      )
      assert.deepStrictEqual(readdirSync(at(it, "modules")), [])
      assert.strictEqual(kindOf(join(it.home, "config")), "file")
    })
  )

  it.live("does not lead into git's own protected files either", () =>
    Effect.gen(function* () {
      const it = yield* here
      yield* inProcess(it, (sandbox) =>
        Effect.gen(function* () {
          yield* outside(sandbox, it, "ln -sf ../../../config .git/logs/refs/heads/config")
          yield* sandbox.tidy(it.workspace)
        })
      )
      git(it, it.workspace, "commit", "-q", "--allow-empty", "-m", "second")
      assert.notInclude(git(it, it.workspace, "config", "--list"), "second")
    })
  )

  it.live("stays if it was there first, in every later process, and as the hook that it is", () =>
    Effect.gen(function* () {
      const it = yield* here
      const elsewhere = join(it.home, "shared")
      mkdirSync(elsewhere)
      symlinkSync(elsewhere, at(it, "rr-cache"))
      symlinkSync(join(it.home, "hook"), at(it, "hooks/pre-push"))
      yield* inProcess(it, (sandbox) => sandbox.shellFor(it.workspace, "author"))
      yield* inProcess(it, (sandbox) =>
        Effect.gen(function* () {
          // What the user makes among the hooks, where commands cannot write, stays too.
          symlinkSync(join(it.home, "hook"), at(it, "hooks/post-merge"))
          yield* outside(sandbox, it, `ln -s ${elsewhere} .git/lfs`)
          yield* sandbox.tidy(it.workspace)
        })
      )
      for (const path of ["rr-cache", "hooks/pre-push", "hooks/post-merge"])
        assert.strictEqual(kindOf(at(it, path)), "link")
      assert.strictEqual(kindOf(at(it, "lfs")), "nothing")
    })
  )

  it.live("does not stay if it leads elsewhere than it did first", () =>
    Effect.gen(function* () {
      const it = yield* here
      symlinkSync("/nowhere", at(it, "description.old"))
      yield* inProcess(it, (sandbox) =>
        Effect.gen(function* () {
          yield* outside(sandbox, it, `ln -sfn ${it.home}/config .git/description.old`)
          yield* sandbox.tidy(it.workspace)
        })
      )
      assert.strictEqual(kindOf(at(it, "description.old")), "nothing")
    })
  )

  it.live("is git's own where HEAD leads to a branch, and nowhere else", () =>
    Effect.gen(function* () {
      const it = yield* here
      yield* inProcess(it, (sandbox) =>
        Effect.gen(function* () {
          yield* outside(sandbox, it, "ln -sf refs/heads/config .git/HEAD")
          yield* sandbox.tidy(it.workspace)
          assert.strictEqual(readlinkSync(at(it, "HEAD")), "refs/heads/config")
          yield* outside(sandbox, it, "ln -sf refs/heads/../../config .git/HEAD")
          yield* Effect.ignore(sandbox.tidy(it.workspace))
          assert.strictEqual(kindOf(at(it, "HEAD")), "nothing")
        })
      )
    })
  )

  it.live("instead of the git directory is put back after a command that replaced it", () =>
    Effect.gen(function* () {
      const it = yield* here
      const real = join(it.workspace, "git.real")
      execFileSync("mv", [join(it.workspace, ".git"), real])
      symlinkSync("git.real", join(it.workspace, ".git"))
      yield* inProcess(it, (sandbox) =>
        command(sandbox, it, "cp -r git.real git.own; echo '[alias]' >> git.own/config; ln -sfn git.own .git; true")
      )
      assert.strictEqual(readlinkSync(join(it.workspace, ".git")), "git.real")
    })
  )
})

describe.skipIf(!sandboxed)("a pipe in git's folders", () => {
  it.live.each(["index", "packed-refs", "logs/HEAD", "refs/heads/other", "objects/pack/pack-x.idx", "MERGE_HEAD"])(
    "keeps no git outside waiting: %s",
    (path) =>
      Effect.gen(function* () {
        const it = yield* here
        yield* inProcess(it, (sandbox) =>
          Effect.gen(function* () {
            yield* outside(sandbox, it, `rm -f .git/${path}; mkdir -p $(dirname .git/${path}); mkfifo .git/${path}`)
            yield* sandbox.tidy(it.workspace)
          })
        )
        assert.strictEqual(kindOf(at(it, path)), "nothing")
        git(it, it.workspace, "status", "--porcelain")
        const refused = readdirSync(join(it.stateDirectory, "sandbox", "refused"))
        assert.isTrue(refused.some((name) => name.endsWith(basename(path))))
      })
  )

  it.live.each(["work", "linked"])("in place of HEAD is put aside by a process that sees it first: %s", (name) =>
    Effect.gen(function* () {
      const it = yield* here
      const directory = join(dirname(it.workspace), name)
      if (name === "linked") git(it, it.workspace, "worktree", "add", "-q", directory)
      const head = join(git(it, directory, "rev-parse", "--absolute-git-dir").trim(), "HEAD")
      execFileSync("/bin/sh", ["-c", 'rm "$0"; mkfifo "$0"', head])
      yield* inProcess(it, (sandbox) =>
        Effect.gen(function* () {
          const fault = yield* Effect.flip(sandbox.tidy(directory))
          assert.include(fault.message, head, "it says what it moved")
          assert.include(fault.message, "git config --list", "and what to do")
        })
      )
      assert.isFalse(existsSync(head))
    })
  )
})

describe.skipIf(!sandboxed)("a symbolic ref in git's folders", () => {
  it.live.each(
    ["ORIG_HEAD", "refs/remotes/origin/main", "refs/heads/run/two", "modules/a/b/refs/heads/x"].flatMap((path) => [
      [path, "ref: commondir"] as const,
      [path, `ref:\t${" ".repeat(30)}config\\0`] as const,
      [path, "ref: refs/../config"] as const
    ])
  )("is moved away where it leads out of refs: %s, %s", ([path, content]) =>
    Effect.gen(function* () {
      const it = yield* here
      const make = `mkdir -p .git/modules/a/b && touch .git/modules/a/b/HEAD; mkdir -p .git/${dirname(path)}; printf '${content}' >.git/${path}`
      yield* inProcess(it, (sandbox) => Effect.andThen(outside(sandbox, it, make), sandbox.tidy(it.workspace)))
      assert.strictEqual(kindOf(at(it, path)), "nothing")
    })
  )

  it.live("leads the user's merge after a run in a worktree to no other git directory", () =>
    Effect.gen(function* () {
      const it = yield* here
      const workspace = join(it.stateDirectory, "worktrees/r1")
      git(it, it.workspace, "worktree", "add", "-q", "-b", "run", workspace)
      const make = `c=$(git rev-parse --git-common-dir); echo "ref: commondir" >$c/ORIG_HEAD; echo "ref: commondir" >$c/worktrees/r1/MERGE_HEAD`
      yield* inProcess(it, (sandbox) =>
        Effect.andThen(outside(sandbox, { ...it, workspace }, make), sandbox.tidy(workspace))
      )
      git(it, workspace, "commit", "-q", "--allow-empty", "-m", "work")
      git(it, it.workspace, "merge", "-q", "run")
      assert.deepStrictEqual(
        ["commondir", "worktrees/r1/MERGE_HEAD", "worktrees/r1/commondir"].map((path) => kindOf(at(it, path))),
        ["nothing", "nothing", "file"]
      )
    })
  )

  it.live("stays where it leads to a ref, as does what only looks like one", () =>
    Effect.gen(function* () {
      const it = yield* here
      const honest = ["refs/remotes/origin/HEAD", "refs/heads/trunk", "NOTES_MERGE_REF"]
      const make = `${honest.map((name) => `git symbolic-ref ${name} refs/heads/config`).join("; ")}; echo 'ref: more' >.git/COMMIT_EDITMSG; echo 'ref: more' >.git/logs/refs/heads/config`
      yield* inProcess(it, (sandbox) => Effect.andThen(outside(sandbox, it, make), sandbox.tidy(it.workspace)))
      for (const path of [...honest, "HEAD", "COMMIT_EDITMSG", "logs/refs/heads/config"])
        assert.strictEqual(kindOf(at(it, path)), "file", path)
    })
  )

  it.live("that a git has written through is no reason to stop: the file that leads elsewhere is moved away", () =>
    Effect.gen(function* () {
      const it = yield* here
      yield* inProcess(it, (sandbox) =>
        Effect.gen(function* () {
          yield* sandbox.shellFor(it.workspace, "author")
          writeFileSync(at(it, "commondir"), "elsewhere\n")
          yield* sandbox.tidy(it.workspace)
        })
      )
      assert.strictEqual(git(it, it.workspace, "branch", "--show-current"), "config\n")
    })
  )
})

const isRoot = process.getuid?.() === 0

/** For root no permission counts: there this only shows that nothing fails. */
describe("a folder of git's that a command made nobody's to read", () => {
  it.live.each(["refs/x", "objects/ab", "modules"])("is its owner's again, and nothing of it is lost: %s", (path) =>
    Effect.gen(function* () {
      const it = yield* here
      const folder = at(it, path)
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, "kept"), "text")
      const repository = { workspace: it.workspace, directory: at(it, ""), common: at(it, "") }
      const place = { sandboxFolder: join(it.stateDirectory, "sandbox"), environment: environmentOf(it) }
      yield* Effect.promise(() => firstLinks(repository, place))
      chmodSync(folder, 0)
      symlinkSync("/nowhere", at(it, "link"))
      assert.deepStrictEqual(yield* Effect.promise(() => putAsideStray(repository, place)), [at(it, "link")])
      if (!isRoot) assert.strictEqual(lstatSync(folder).mode & 0o700, 0o700)
      chmodSync(folder, 0o700)
      assert.strictEqual(readFileSync(join(folder, "kept"), "utf8"), "text")
    })
  )
})
