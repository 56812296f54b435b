/** Makes a working tree ready for a run, or says why it must not be used (workspace: Prepare). */
import { realpath, stat } from "node:fs/promises"
import { dirname, isAbsolute, join } from "node:path"
import { planSlug } from "@reprise/plan"
import type { Host, WorkspaceCommand } from "@reprise/protocol"
import { Effect } from "effect"
import { quoted } from "./domain/commitHash.ts"
import { commandSlugs, postCreateLog } from "./domain/logName.ts"
import type { Place, WorkspaceFact } from "./domain/messages.ts"
import { excludePatterns, isAmong, some } from "./domain/ownFiles.ts"
import type { GitFault } from "./faults.ts"
import { foreignDirt } from "./foreignDirt.ts"
import { Git } from "./Git.ts"
import { excludeFromGit, markPrepared, preparedMarker, workspaceIdentity } from "./gitDirectoryFiles.ts"
import { Leases } from "./Leases.ts"
import { runShell } from "./runShell.ts"
import { WorkspaceFiles } from "./WorkspaceFiles.ts"
import { listWorktrees, removeWorktree, worktreePath } from "./worktrees.ts"

type PrepareWorkspace = Extract<WorkspaceCommand, { readonly _tag: "PrepareWorkspace" }>
type WorkspaceRefused = Extract<WorkspaceFact, { readonly _tag: "WorkspaceRefused" }>

/** A business no: ends preparing with `WorkspaceRefused`. */
class Refused {
  readonly _tag = "Refused"
  readonly kind: WorkspaceRefused["kind"]
  readonly reason: string
  constructor(kind: WorkspaceRefused["kind"], reason: string) {
    this.kind = kind
    this.reason = reason
  }
}

const refuse = (kind: WorkspaceRefused["kind"], reason: string) => Effect.fail(new Refused(kind, reason))

const postCreateTimeoutMs = 30 * 60_000

const notARepository = (workspace: string, fault: GitFault): string =>
  fault.withoutWorkTree
    ? `${workspace} has no working tree: it is a bare repository, or git's own directory. Use a clone of it.`
    : `${workspace} is not in a git repository: ${fault.message}`

/** The repository, and proof that the plan is a file in it. */
const locate = Effect.fnUntraced(function* (command: PrepareWorkspace) {
  const git = yield* Git
  const files = yield* WorkspaceFiles
  const { workspace } = command
  if (!isAbsolute(workspace)) return yield* refuse("other", `The workspace '${workspace}' is not an absolute path.`)
  const there = yield* Effect.promise(() =>
    stat(workspace).then(
      (found) => found.isDirectory(),
      () => false
    )
  )
  if (!there) return yield* refuse("not-a-repository", `There is no directory ${workspace} on this host.`)
  const top = yield* git
    .topLevel(workspace)
    .pipe(Effect.catchTag("GitFault", (fault) => refuse("not-a-repository", notARepository(workspace, fault))))
  const root = yield* Effect.promise(() => realpath(top))
  const head = yield* git.head(root)
  if (head === undefined) return yield* refuse("other", `${root} has no commit yet. Commit the plan first.`)
  const plan = yield* files.read(root, command.planPath).pipe(
    Effect.catchTags({
      OutsideWorkspace: ({ message }) => refuse("outside", message),
      NotAFile: ({ what }) => refuse("other", `The plan ${command.planPath || "''"} in ${root} ${what}.`)
    })
  )
  if (plan === undefined) return yield* refuse("other", `There is no plan ${command.planPath} in ${root}.`)
  const owner = yield* git.topLevel(dirname(join(root, command.planPath)))
  if ((yield* Effect.promise(() => realpath(owner))) !== root) {
    return yield* refuse(
      "outside",
      `The plan ${command.planPath} is a file of another repository, ${owner}. Start the run there.`
    )
  }
  yield* excludeFromGit(yield* git.gitPath(root, "info/exclude"), excludePatterns)
  return { root, plan }
})

/** What is dirty, or a refusal that lists it. */
const toleratedIn = Effect.fnUntraced(function* (
  directory: string,
  allowDirty: boolean,
  tolerated: ReadonlyArray<string> = []
) {
  const dirty = yield* foreignDirt(directory)
  const unexpected = dirty.filter((path) => !isAmong(path, tolerated))
  if (unexpected.length > 0 && !allowDirty) {
    return yield* refuse(
      "dirty-tree",
      `${directory} has changes that are not committed: ${some(unexpected)}. Commit or stash them, or use --allow-dirty.`
    )
  }
  return dirty
})

const runPostCreate = Effect.fnUntraced(function* (command: PrepareWorkspace, root: string, directory: string) {
  const slugs = commandSlugs(command.postCreate)
  for (const [index, line] of command.postCreate.entries()) {
    const result = yield* runShell({
      command: line,
      directory,
      root,
      logPath: postCreateLog(command.runId, slugs[index] ?? String(index)),
      timeoutMs: postCreateTimeoutMs
    })
    if (result.exitCode !== 0) {
      const why = result.timedOut ? "took too long" : `ended with ${result.exitCode ?? "no exit code"}`
      return yield* refuse(
        "post-create",
        `workspace.postCreate '${line}' ${why}. Its log is ${result.logRef}. It ends:\n${result.tail}`
      )
    }
  }
})

const branchOf = Effect.fnUntraced(function* (command: PrepareWorkspace, root: string) {
  const git = yield* Git
  const branch = command.branch ?? `reprise/${planSlug(command.planPath)}`
  return (yield* git.isBranchName(root, branch))
    ? branch
    : yield* refuse("other", `${quoted(branch)} cannot be the name of a branch.`)
})

/** A working tree that a run may get, before it is checked. */
interface Tree {
  readonly directory: string
  /** The branch that was made for it just now. */
  readonly freshBranch?: string
  /** Nobody has worked in it, so that it may be thrown away again. */
  readonly made: boolean
}

/** The run's worktree: its own, or one that an earlier run left on the same branch, or a new one. */
const worktreeFor = Effect.fnUntraced(function* (command: PrepareWorkspace, root: string) {
  const git = yield* Git
  const directory = worktreePath(root, command.runId)
  const existing = yield* listWorktrees(root)
  if (existing.some((one) => one.directory === directory)) return { directory, made: false } satisfies Tree
  const branch = yield* branchOf(command, root)
  const left = existing.find((one) => one.branch === branch)
  if (left !== undefined) return { directory: left.directory, made: false } satisfies Tree
  const known = yield* git.branchExists(root, branch)
  yield* git.addWorktree(root, directory, branch).pipe(
    Effect.catchIf(
      (fault): fault is GitFault => fault._tag === "GitFault" && !fault.transient,
      (fault) => refuse("in-use", `No worktree on ${branch}: ${fault.message}`)
    )
  )
  return { directory, made: true, ...(known ? {} : { freshBranch: branch }) } satisfies Tree
})

/** Checks a worktree and runs `postCreate` once. What those commands leave behind is no dirt of the run. */
const settleWorktree = Effect.fnUntraced(function* (command: PrepareWorkspace, root: string, plan: string, tree: Tree) {
  const git = yield* Git
  const files = yield* WorkspaceFiles
  const { directory } = tree
  const gitDirectory = yield* git.gitDirectory(directory)
  const marker = yield* preparedMarker(gitDirectory)
  // Prepared to the end by this run, whose report a crash kept back.
  if (marker !== undefined && directory === worktreePath(root, command.runId)) return marker.tolerated
  const there = yield* files.read(directory, command.planPath)
  if (there === undefined || (tree.freshBranch !== undefined && there !== plan)) {
    return yield* refuse(
      "dirty-tree",
      `A worktree would have another ${command.planPath} than the one given: it has changes that are not committed. Commit it first.`
    )
  }
  if (marker !== undefined) return yield* toleratedIn(directory, command.allowDirty, marker.tolerated)
  if (!tree.made) yield* toleratedIn(directory, command.allowDirty)
  yield* runPostCreate(command, root, directory)
  const tolerated = yield* toleratedIn(directory, true)
  yield* markPrepared(gitDirectory, tolerated)
  return tolerated
})

const prepareOrRefuse = Effect.fnUntraced(function* (command: PrepareWorkspace, host: Host, before: Place | undefined) {
  const git = yield* Git
  const leases = yield* Leases
  const { plan, root } = yield* locate(command)
  const tree: Tree = command.worktree ? yield* worktreeFor(command, root) : { directory: root, made: false }
  const { directory } = tree
  const leaseId = yield* workspaceIdentity(yield* git.gitDirectory(directory))
  const claim = { leaseId, runId: command.runId, directory }
  yield* leases.acquire(claim).pipe(Effect.catchTag("InUse", (inUse) => refuse("in-use", inUse.message)))

  // Prepared once, what is dirty now is the run's own work.
  const settle =
    before !== undefined
      ? Effect.succeed(before.tolerated)
      : command.worktree
        ? settleWorktree(command, root, plan, tree)
        : toleratedIn(root, command.allowDirty)
  // What was not prepared is nobody's: the actor would not know of a lease to free.
  const letGo = before === undefined ? Effect.ignore(leases.free(claim)) : Effect.void
  const discard = tree.made ? Effect.ignore(removeWorktree(root, directory)) : Effect.void
  const tolerated = yield* settle.pipe(
    Effect.tapError((error) => (error._tag === "Refused" ? discard : Effect.void)),
    Effect.onError(() => letGo)
  )

  const branch = yield* git.branch(directory)
  const place: Place = { host, root, directory, leaseId, tolerated, ...(branch === undefined ? {} : { branch }) }
  const event: WorkspaceFact = {
    _tag: "WorkspacePrepared",
    runId: command.runId,
    host,
    directory,
    head: (yield* git.head(directory)) ?? "",
    ...(branch === undefined ? {} : { branch })
  }
  return { event, place }
})

export interface Prepared {
  readonly event: WorkspaceFact
  /** Absent when refused. */
  readonly place?: Place
}

/** `before`: where the run was prepared already, if it was. */
export const prepare = Effect.fn("prepare")(function* (
  command: PrepareWorkspace,
  host: Host,
  before: Place | undefined
) {
  return yield* prepareOrRefuse(command, host, before).pipe(
    Effect.map((prepared): Prepared => prepared),
    Effect.catchTag("Refused", ({ kind, reason }) =>
      Effect.succeed<Prepared>({ event: { _tag: "WorkspaceRefused", runId: command.runId, kind, reason } })
    )
  )
})
