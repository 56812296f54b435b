/** Real git repositories in temporary directories. */
import { execFile } from "node:child_process"
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Host } from "@reprise/protocol"
import { Effect, Layer } from "effect"
import type { Place } from "../../src/actor/work.ts"
import { WorkspaceFiles } from "../../src/work/files/WorkspaceFiles.ts"
import { Git } from "../../src/work/git/Git.ts"
import { GitDirectory } from "../../src/work/git/GitDirectory.ts"
import { Remotes } from "../../src/work/remote/Remotes.ts"

const run = promisify(execFile)
const environment = {
  PATH: process.env.PATH,
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "Ada",
  GIT_AUTHOR_EMAIL: "ada@example.org",
  GIT_COMMITTER_NAME: "Ada",
  GIT_COMMITTER_EMAIL: "ada@example.org"
}

export interface Repository {
  /** Real absolute path of the working tree. */
  readonly root: string
  readonly place: Place
  /** What git wrote, trimmed. */
  readonly git: (...args: ReadonlyArray<string>) => Effect.Effect<string>
  readonly write: (path: string, text: string) => Effect.Effect<void>
  readonly remove: (path: string) => Effect.Effect<void>
  /** A hook of the repository's own, such as `pre-commit`, as a shell script. */
  readonly hook: (name: string, script: string) => Effect.Effect<void>
  /** Commits everything; gives the hash. */
  readonly commit: (message: string) => Effect.Effect<string>
}

export const temporaryDirectory = Effect.acquireRelease(
  Effect.promise(async () => realpath(await mkdtemp(join(tmpdir(), "reprise-workspace-")))),
  // Some tests make folders so deep that Node cannot name them.
  (path) => Effect.promise(() => run("rm", ["-rf", path]))
)

/** A repository's root as a prepared place. */
export const placeAt = (root: string): Place => ({
  host: Host.make("h1"),
  root,
  directory: root,
  leaseId: "l1",
  tolerated: []
})

/** A repository that exists. */
export const at = (root: string): Repository => {
  const git: Repository["git"] = (...args) =>
    Effect.promise(async () => (await run("git", args, { cwd: root, env: environment })).stdout.trim())
  const write: Repository["write"] = (path, text) =>
    Effect.promise(async () => {
      await mkdir(dirname(join(root, path)), { recursive: true })
      await writeFile(join(root, path), text)
    })
  return {
    root,
    place: placeAt(root),
    git,
    write,
    hook: (name, script) =>
      Effect.promise(async () => {
        const path = join(root, ".git/hooks", name)
        await mkdir(dirname(path), { recursive: true })
        await writeFile(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
      }),
    remove: (path) => Effect.promise(() => rm(join(root, path), { recursive: true })),
    commit: (message) =>
      git("add", "--all").pipe(
        Effect.andThen(git("commit", "--quiet", "--allow-empty", "-m", message)),
        Effect.andThen(git("rev-parse", "HEAD"))
      )
  }
}

/** Without a commit. */
export const emptyRepository = Effect.gen(function* () {
  const repository = at(yield* temporaryDirectory)
  yield* repository.git("init", "--quiet", "--initial-branch=main")
  yield* repository.write(".git/info/exclude", "/.reprise/\n")
  return repository
})

/** With a committed `PLAN.md`. */
export const repository = Effect.gen(function* () {
  const made = yield* emptyRepository
  yield* made.write("PLAN.md", "# Plan\n\n## Phase 1: One\n\n- [ ] do it\n")
  yield* made.commit("plan")
  return made
})

export const adapters = Layer.mergeAll(Git.layer, GitDirectory.layer, WorkspaceFiles.layer, Remotes.layer).pipe(
  Layer.provideMerge(NodeServices.layer)
)
