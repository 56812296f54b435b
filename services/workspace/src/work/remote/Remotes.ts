/**
 * This host's clones of git remotes (docs/design/workspace.md#workspace): one for each remote, with all branches and tags.
 * They are shared by the runs of that remote, each of which has a worktree.
 */
import { createHash, randomUUID } from "node:crypto"
import { mkdir, readdir, rename, rm, stat } from "node:fs/promises"
import { dirname, join } from "node:path"
import { slugOf } from "@reprise/plan"
import { childEnvironment, hasCode, runGit, userDataFolder } from "@reprise/process"
import { Context, Effect, Layer, Semaphore } from "effect"
import { GitFault, HostFault, noAnswer } from "../faults.ts"
import { type GitResult, optional, text } from "../git/runGit.ts"
import { accessSettings } from "./access.ts"
import { askedRefs, type RemoteRefs, readRemoteRefs } from "./remoteRefs.ts"

/** A large repository takes its time; a server that stands still is noticed before. */
const networkTimeoutMs = 60 * 60_000
const draftEnding = ".new"

export class Remotes extends Context.Service<
  Remotes,
  {
    /** The absolute path of the clone, whether it exists or not. */
    readonly cloneOf: (url: string) => string
    /**
     * Brings the remote's branches and tags here; makes the clone if there is none. Gives what the remote itself says that it has:
     * commands of any run write the refs of the clone.
     */
    readonly fetch: (url: string) => GitResult<RemoteRefs>
    /** The full hash of a commit, if the clone has it. */
    readonly commitHere: (clone: string, hash: string) => GitResult<string | undefined>
    /** The commit that a branch had at the remote when it was last fetched or pushed, as far as the clone's refs can be believed. */
    readonly branchTip: (clone: string, branch: string) => GitResult<string | undefined>
    /** Moves a branch of the clone that no working tree has checked out. */
    readonly moveBranch: (clone: string, branch: string, commit: string) => GitResult<void>
    /** Moves the branch of a working tree, and its files, forward. */
    readonly fastForward: (workTree: string, commit: string) => GitResult<void>
    /** Keeps a worktree, with its commits and files, under another name, and frees its branch. */
    readonly setAside: (clone: string, workTree: string, name: string) => GitResult<void>
    /** Gives a branch of the remote this commit, and never takes commits from it. */
    readonly push: (clone: string, url: string, commit: string, branch: string) => GitResult<void>
  }
>()("workspace/Remotes") {
  /** `folder`: where the clones are. Default: the user's folder for data. */
  static readonly layerIn = (
    folder = join(userDataFolder(process.env), "repositories"),
    environment: Readonly<Record<string, string | undefined>> = process.env
  ) => Layer.effect(Remotes, make(folder, environment))
  static readonly layer = Layer.suspend(() => Remotes.layerIn())
}

/** Different remotes never share a folder, and people recognise it. */
const folderName = (url: string): string => {
  const name =
    url
      .replace(/(?<!\/)\/+$/, "")
      .replace(/\.git$/, "")
      .split(/[/:]/)
      .at(-1) ?? ""
  return `${slugOf(name, "repository")}-${createHash("sha256").update(url).digest("hex").slice(0, 12)}`
}

const attempt = <A>(operation: string, run: () => Promise<A>) =>
  Effect.tryPromise({ try: run, catch: (cause) => new HostFault({ operation, cause }) })

const exists = (path: string) =>
  attempt("looking for a clone", () =>
    stat(path).then(
      () => true,
      (error) => (hasCode(error, "ENOENT") ? false : Promise.reject(error))
    )
  )

const remove = (path: string) => attempt("removing a clone", () => rm(path, { recursive: true, force: true }))

/** What processes left that were killed while they made this clone. */
const removeOldDrafts = (clone: string) =>
  attempt("removing what is left of clones", async () => {
    const folder = dirname(clone)
    for (const name of await readdir(folder)) {
      const path = join(folder, name)
      if (!(path.startsWith(`${clone}.`) && name.endsWith(draftEnding))) continue
      const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }))
      if (Date.now() - mtimeMs > networkTimeoutMs) await rm(path, { recursive: true, force: true })
    }
  })

/** A clone of the same remote by another process may have been quicker. */
const put = (draft: string, clone: string) =>
  attempt("keeping a clone", () =>
    rename(draft, clone).catch((error) =>
      hasCode(error, "ENOTEMPTY", "EEXIST") ? rm(draft, { recursive: true, force: true }) : Promise.reject(error)
    )
  )

const make = Effect.fnUntraced(function* (folder: string, environment: Readonly<Record<string, string | undefined>>) {
  const settings = accessSettings(environment)

  const reach = (directory: string, operation: string, args: ReadonlyArray<string>): GitResult<string> =>
    runGit(directory, [...settings, operation, ...args], {
      environment: childEnvironment(environment),
      reachesRemotes: true,
      timeoutMs: networkTimeoutMs
    }).pipe(
      Effect.mapError(noAnswer(operation)),
      Effect.flatMap(({ exitCode, stderr, stdout }) =>
        exitCode === 0 ? Effect.succeed(stdout) : Effect.fail(new GitFault({ operation, exitCode, stderr }))
      )
    )

  const cloneOf = (url: string) => join(folder, folderName(url))

  /** Whoever works here needs a name for commits; the user's own counts, if there is one. */
  const nameCommitter = Effect.fnUntraced(function* (clone: string) {
    const email = yield* optional(clone, ["config", "user.email"])
    if (email !== undefined && email !== "") return
    yield* text(clone, ["config", "user.name", "Reprise"])
    yield* text(clone, ["config", "user.email", "reprise@localhost"])
  })

  /** It appears whole or not at all: a process that is killed leaves a draft that nobody uses. */
  const makeClone = Effect.fnUntraced(function* (url: string) {
    const clone = cloneOf(url)
    const draft = `${clone}.${randomUUID()}${draftEnding}`
    yield* attempt("making the folder for clones", () => mkdir(folder, { recursive: true, mode: 0o700 }))
    yield* removeOldDrafts(clone)
    yield* reach(folder, "clone", [
      "--quiet",
      "--no-checkout",
      "--template=",
      "--origin=origin",
      "--",
      url,
      draft
    ]).pipe(
      Effect.andThen(nameCommitter(draft)),
      Effect.andThen(put(draft, clone)),
      Effect.onError(() => Effect.ignore(remove(draft)))
    )
  })

  const fetchInto = Effect.fnUntraced(function* (url: string) {
    const clone = cloneOf(url)
    const isHere = yield* exists(clone)
    if (!isHere) yield* makeClone(url)
    // Asked before a fetch, so that whatever it names is here afterwards.
    const found = readRemoteRefs(yield* reach(clone, "ls-remote", ["--quiet", "--symref", "--", url, ...askedRefs]))
    if (isHere) {
      const refs = ["+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*"]
      yield* reach(clone, "fetch", ["--quiet", "--prune", "--no-write-fetch-head", "--", url, ...refs])
      // Gates may compare with it, and a command may have had it stand for anything.
      const head = "refs/remotes/origin/HEAD"
      const { defaultBranch: branch } = found
      const set =
        branch === undefined
          ? ["update-ref", "--no-deref", "-d", head]
          : ["symbolic-ref", head, `refs/remotes/origin/${branch}`]
      yield* text(clone, set)
    }
    return found
  })

  const commitAt = (clone: string, name: string) =>
    optional(clone, ["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`])

  const setAside = Effect.fnUntraced(function* (clone: string, workTree: string, name: string) {
    yield* text(workTree, ["checkout", "--quiet", "--detach"])
    yield* text(clone, ["worktree", "move", "--", workTree, name])
  })

  const push = Effect.fnUntraced(function* (clone: string, url: string, commit: string, branch: string) {
    yield* reach(clone, "push", ["--quiet", "--", url, `${commit}:refs/heads/${branch}`])
    yield* text(clone, ["update-ref", "--no-deref", `refs/remotes/origin/${branch}`, commit])
  })

  /** One at a time for each remote: git's own locks would refuse one of two. */
  const turns = new Map<string, Semaphore.Semaphore>()
  const inTurn = (url: string) => {
    const turn = turns.get(url) ?? Semaphore.makeUnsafe(1)
    turns.set(url, turn)
    return turn.withPermits(1)
  }

  return Remotes.of({
    cloneOf,
    fetch: (url) => inTurn(url)(fetchInto(url)),
    commitHere: commitAt,
    branchTip: (clone, branch) => commitAt(clone, `refs/remotes/origin/${branch}`),
    // A command may have had it stand for another branch.
    moveBranch: (clone, branch, commit) =>
      Effect.asVoid(text(clone, ["update-ref", "--no-deref", `refs/heads/${branch}`, commit])),
    fastForward: (workTree, commit) => Effect.asVoid(text(workTree, ["merge", "--quiet", "--ff-only", commit])),
    setAside,
    push
  })
})
