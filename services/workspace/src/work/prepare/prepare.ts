/** Prepares a working tree for a run, or refuses it with the reason (docs/design/workspace.md#workspace). */
import type { GitRemote, Host } from "@reprise/protocol"
import { Clock, Effect } from "effect"
import type { InputOf, WorkspaceFact } from "../../actor/inputs.ts"
import type { Place } from "../../actor/work.ts"
import type { NotAFile, UnreadableTree } from "../faults.ts"
import { WorkspaceFiles } from "../files/WorkspaceFiles.ts"
import { Git } from "../git/Git.ts"
import { GitDirectory } from "../git/GitDirectory.ts"
import { settleLocks } from "../git/leftLocks.ts"
import { removeWorktree, worktreePath } from "../git/worktrees.ts"
import { Leases } from "../leases/Leases.ts"
import { Remotes } from "../remote/Remotes.ts"
import type { RemoteRefs } from "../remote/remoteRefs.ts"
import { approvedCommit, recordApproved } from "./approvedCommit.ts"
import { cloneRemote } from "./cloneRemote.ts"
import { locateRepository } from "./locateRepository.ts"
import { refuse, requireClean } from "./refusal.ts"
import { forward, setUpWorktree, type Tree, worktreeOfRun } from "./worktreeOfRun.ts"

type PrepareWorkspace = InputOf<"PrepareWorkspace">

export interface Prepared {
  readonly event: WorkspaceFact
  /** Absent when the workspace was refused. */
  readonly place?: Place
}

interface Repository {
  readonly root: string
  /** The plan's text; undefined where the root is a clone without files. */
  readonly plan?: string
  /** What the remote of a clone says that it has, where it was asked. */
  readonly refs?: RemoteRefs
}

/** Runs of a remote share one clone, so each has a worktree. */
const hasWorktree = ({ remote, worktree }: PrepareWorkspace): boolean => worktree || remote !== undefined

/**
 * A run that has its worktree goes on without the remote, which may be away; unless it was moved: then what is left here of
 * the run is from before, and is kept beside.
 */
const cloneOrFind = Effect.fnUntraced(function* (
  { leaving, remote, runId }: PrepareWorkspace & { readonly remote: GitRemote },
  before: Place | undefined
) {
  const files = yield* WorkspaceFiles
  const remotes = yield* Remotes
  const clone = remotes.cloneOf(remote.url)
  const own = worktreePath(clone, runId)
  const isHere = yield* files.isDirectory(own)
  if (isHere && (leaving === undefined || before !== undefined))
    return { root: yield* files.realPath(clone) } satisfies Repository
  const cloned = yield* cloneRemote(remote)
  const { root } = cloned
  if (isHere) {
    const left = worktreePath(root, runId)
    yield* remotes.setAside(root, left, `${left}-left-${yield* Clock.currentTimeMillis}`)
  }
  return cloned satisfies Repository
})

const repositoryOf = ({ remote, ...command }: PrepareWorkspace, before: Place | undefined) =>
  remote === undefined
    ? Effect.map(locateRepository(command), (found): Repository => found)
    : Effect.map(cloneOrFind({ ...command, remote }, before), (found): Repository => found)

/**
 * Returns the uncommitted paths that the run tolerates. Once a run was prepared, uncommitted files are its own work.
 */
const checkTree = (command: PrepareWorkspace, { plan, root }: Repository, tree: Tree, before: Place | undefined) => {
  if (before !== undefined) return Effect.succeed(before.tolerated)
  return hasWorktree(command)
    ? setUpWorktree(command, root, plan, tree)
    : requireClean({ directory: root, root }, command.allowDirty)
}

/** A run that was prepared before has its own, and so has a branch that was made for it. */
const baseOf = Effect.fnUntraced(function* (
  command: PrepareWorkspace,
  root: string,
  { begun: start, directory, newBranch, pushed }: Tree,
  before: Place | undefined,
  branch: string | undefined,
  head: string
) {
  if (before !== undefined || branch === undefined) return head
  const isNamed = command.branch !== undefined
  const begun = { root, directory, branch, head, isNamed, ...(pushed === undefined ? {} : { pushed }) }
  const base = newBranch === undefined ? yield* approvedCommit(begun) : (start ?? head)
  yield* recordApproved(root, branch, base)
  return base
})

const refuseFor = ({ message }: NotAFile | UnreadableTree) => refuse("other", message)

const prepareOrRefuse = Effect.fnUntraced(function* (
  command: PrepareWorkspace,
  host: Host,
  before: Place | undefined,
  requestId: string
) {
  const git = yield* Git
  const own = yield* GitDirectory
  const leases = yield* Leases
  const repository = yield* repositoryOf(command, before)
  const { root } = repository
  // A worktree of its own is not the one in which the user may be committing.
  yield* settleLocks(root, hasWorktree(command) ? "look" : "write")
  const tree: Tree = hasWorktree(command)
    ? yield* worktreeOfRun(command, root, repository.refs)
    : { directory: root, isNew: false }
  const { directory } = tree
  const leaseId = yield* own.identify(yield* git.gitDirectory(directory))
  const claim = { leaseId, runId: command.runId, directory, requestId }
  yield* leases.acquire(claim).pipe(Effect.catchTag("InUse", ({ message }) => refuse("in-use", message)))

  // The actor learns of a lease only when preparing succeeds, so nobody else could free it.
  const freeLease = before === undefined ? Effect.ignore(leases.undo(claim)) : Effect.void
  const discardTree = tree.isNew ? Effect.ignore(removeWorktree(root, directory)) : Effect.void
  const look = Effect.gen(function* () {
    yield* forward(tree)
    const tolerated = yield* checkTree(command, repository, tree, before).pipe(
      Effect.catchTags({ NotAFile: refuseFor, UnreadableTree: refuseFor }),
      Effect.tapError((error) => (error._tag === "Refused" ? discardTree : Effect.void))
    )
    const branch = yield* git.branch(directory)
    const head = (yield* git.head(directory)) ?? ""
    return { tolerated, branch, head, base: yield* baseOf(command, root, tree, before, branch, head) }
  })
  const { base, branch, head, tolerated } = yield* look.pipe(Effect.onError(() => freeLease))
  const place: Place = {
    ...{ host, root, directory, leaseId, tolerated },
    ...(branch === undefined ? {} : { branch }),
    ...(command.remote === undefined ? {} : { remote: command.remote.url })
  }
  const event: WorkspaceFact = {
    _tag: "WorkspacePrepared",
    runId: command.runId,
    host,
    directory,
    head,
    ...(base === head ? {} : { base }),
    ...(branch === undefined ? {} : { branch })
  }
  return { event, place }
})

/**
 * May be repeated. `before`: where the run was prepared already, if it was. `requestId`: an attempt that hung until its
 * request was over, and the workspace released, gets no lease.
 */
export const prepare = Effect.fn("prepare")(function* (
  command: PrepareWorkspace,
  host: Host,
  before: Place | undefined,
  requestId: string
) {
  return yield* prepareOrRefuse(command, host, before, requestId).pipe(
    Effect.catchTags({ NotAFile: refuseFor, UnreadableTree: refuseFor }),
    Effect.map((prepared): Prepared => prepared),
    Effect.catchTag("Refused", ({ kind, reason }) =>
      Effect.succeed<Prepared>({ event: { _tag: "WorkspaceRefused", runId: command.runId, kind, reason } })
    )
  )
})
