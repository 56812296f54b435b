/** The git that agents' programs find on their PATH. */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { layerSandbox, Sandbox, type SandboxShape } from "../src/index.ts"
import { canSandbox, type Scene, scene } from "../src/testing/index.ts"

const sandboxed = await canSandbox()

const inScene = <A, E>(
  use: (
    here: Scene,
    sandbox: SandboxShape,
    git: (folder: string, ...args: ReadonlyArray<string>) => string
  ) => Effect.Effect<A, E>
) =>
  Effect.gen(function* () {
    const here = yield* scene
    const options = {
      mode: "required" as const,
      gates: true,
      settings: { write: [], read: [], deny: [], network: [] },
      stateDirectory: here.stateDirectory,
      environment: { ...process.env, HOME: here.home }
    }
    /** What an agent's program would get, run in the workspace. */
    const git = (folder: string, ...args: ReadonlyArray<string>) => {
      try {
        return execFileSync("git", args, {
          cwd: here.workspace,
          encoding: "utf8",
          env: { ...process.env, HOME: here.home, PATH: `${folder}:${process.env["PATH"]}` },
          stdio: ["ignore", "pipe", "pipe"]
        })
      } catch (error) {
        return error instanceof Error && "stderr" in error ? `failed: ${error.stderr}` : assert.fail(String(error))
      }
    }
    return yield* Sandbox.use((sandbox) => use(here, sandbox, git)).pipe(Effect.provide(layerSandbox(options)))
  })

/** A repository inside, as a command makes it: all of it is run by a git that looks at it. */
const nest = ({ home, workspace }: Scene) => {
  const inner = join(workspace, "nested")
  const own = (...args: ReadonlyArray<string>) => execFileSync("git", ["-C", inner, ...args], { stdio: "pipe" })
  mkdirSync(inner)
  own("init", "-q", ".")
  writeFileSync(join(inner, ".gitattributes"), "* filter=x diff=x\n")
  writeFileSync(join(inner, "file"), "one\n")
  own("add", ".")
  own("-c", "user.name=a", "-c", "user.email=a", "commit", "-qm", "x")
  for (const key of ["core.fsmonitor", "filter.x.clean", "diff.external", "diff.x.textconv", "core.pager"])
    own("config", key, `touch ${join(home, "ran")}; false`)
  execFileSync("git", ["-C", workspace, "add", "nested"], { stdio: "pipe" })
  writeFileSync(join(inner, "file"), "two\n")
  const later = new Date(Date.now() + 5000)
  utimesSync(join(inner, "file"), later, later)
}

describe.skipIf(!sandboxed)("the git of an agent's program", () => {
  it.live("answers what it asks, and runs nothing outside that a repository inside of the tree names", () =>
    inScene((here, { programsFor }, git) =>
      Effect.gen(function* () {
        const { git: folder } = yield* programsFor(here.workspace, "author")
        nest(here)
        assert.strictEqual(git(folder, "rev-parse", "--show-prefix").trim(), "")
        assert.match(git(folder, "-c", "a.b=c", "rev-list", "--max-parents=0", "HEAD"), /^[0-9a-f]{40}\n$/)
        assert.match(git(folder, "worktree", "list"), /second/)
        const looks = [
          ["status", "--short"],
          ["diff", "--submodule=diff"],
          ["log", "-p", "-1"],
          ["add", "-A"],
          ["stash"]
        ]
        for (const args of looks) git(folder, ...args)
        assert.match(git(folder, "status", "--short"), /nested/)
        assert.isFalse(existsSync(join(here.home, "ran")))
        // The user's own git would.
        git("/nowhere", "status")
        assert.isTrue(existsSync(join(here.home, "ran")))
        rmSync(join(here.home, "ran"))
      })
    )
  )

  it.live("fetches nothing by itself, and reaches no remote that a repository inside of the tree names", () =>
    inScene((here, { programsFor }, git) =>
      Effect.gen(function* () {
        const { git: folder } = yield* programsFor(here.workspace, "author")
        nest(here)
        const inner = join(here.workspace, "nested")
        const settings = {
          "core.repositoryformatversion": "1",
          "extensions.partialClone": "evil",
          "remote.evil.promisor": "true",
          "remote.evil.url": ".",
          "remote.evil.uploadpack": `touch ${join(here.home, "ran")}; false`
        }
        const inside = (at: string, ...args: ReadonlyArray<string>) => git(at, "-C", "nested", ...args)
        const head = inside("/nowhere", "rev-parse", "HEAD").trim()
        for (const [key, value] of Object.entries(settings)) inside("/nowhere", "config", key, value)
        rmSync(join(inner, ".git", "objects", head.slice(0, 2), head.slice(2)))
        const looks = [
          ["rev-parse", "--verify", "HEAD^{commit}"],
          ["rev-list", "HEAD"],
          ["merge-base", "HEAD", "HEAD"],
          ["for-each-ref", "--format=%(subject)"],
          ["remote", "show", "evil"],
          ["remote", "update"],
          ["log", "-1"],
          ["status", "--short"]
        ]
        rmSync(join(here.home, "ran"), { force: true })
        for (const args of looks) {
          inside(folder, ...args)
          assert.isFalse(existsSync(join(here.home, "ran")), args.join(" "))
        }
        // The user's own git would.
        for (const args of [looks[0] ?? [], ["remote", "show", "evil"]]) {
          inside("/nowhere", ...args)
          assert.isTrue(existsSync(join(here.home, "ran")))
          rmSync(join(here.home, "ran"))
        }
      })
    )
  )

  it.live("changes nothing, and sees no key", () =>
    inScene((here, { programsFor }, git) =>
      Effect.gen(function* () {
        const { git: folder } = yield* programsFor(here.workspace, "author")
        const before = git(folder, "rev-parse", "HEAD")
        assert.match(git(folder, "commit", "--allow-empty", "-m", "x"), /failed: .*(Read-only|unable)/s)
        assert.strictEqual(git(folder, "rev-parse", "HEAD"), before)
        assert.notInclude(
          git(folder, "diff", "--no-index", "/dev/null", join(here.home, ".ssh", "id_ed25519")),
          "c4n4ry"
        )
      })
    )
  )

  it.live("of a server of many sessions goes by the folder in which it is started", () =>
    inScene((here, sandbox, git) =>
      Effect.gen(function* () {
        const folder = yield* sandbox.serverGit
        assert.match(git(folder, "rev-parse", "HEAD"), /^[0-9a-f]{40}\n$/)
        assert.match(git(folder, "status"), /failed: reprise: no agent works in .*'git status' does not run there/)
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* sandbox.occupy({ directory: here.workspace, role: "author", permissions: "ask" })
            assert.match(git(folder, "status"), /On branch/)
          })
        )
      })
    )
  )
})
