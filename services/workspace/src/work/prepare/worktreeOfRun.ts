/** The git worktree of a run: chosen or created, and set up once. */
import { planSlug } from "@reprise/plan"
import { whyFiltersAreRefused } from "@reprise/sandbox"
import { Effect } from "effect"
import type { InputOf } from "../../actor/inputs.ts"
import type { GitFault } from "../faults.ts"
import { WorkspaceFiles } from "../files/WorkspaceFiles.ts"
import { quoted } from "../git/commitNames.ts"
import { Git } from "../git/Git.ts"
import type { Worktree } from "../git/gitOutput.ts"
import { listWorktrees, worktreePath } from "../git/worktrees.ts"
import { commandSlugs, postCreateLog } from "../qualityGates/logNames.ts"
import { runShell } from "../qualityGates/runShell.ts"
import { Remotes } from "../remote/Remotes.ts"
import type { RemoteRefs } from "../remote/remoteRefs.ts"
import { beginningOf, cloneRemote } from "./cloneRemote.ts"
import { requirePlan } from "./locateRepository.ts"
import { markPrepared, readPrepared } from "./prepared.ts"
import { Refused, refuse, requireClean } from "./refusal.ts"

type PrepareWorkspace = InputOf<"PrepareWorkspace">

/** A working tree that a run may get, before it is checked. */
export interface Tree {
  readonly directory: string
  /** The branch that was created for it. */
  readonly newBranch?: string
  /** The commit from which that branch was made. */
  readonly begun?: string
  /** Whether it was created for this run: then it may be removed again, because nobody has worked in it. */
  readonly isNew: boolean
  /** The commit to which its branch is to be moved before anybody works in it. */
  readonly forwardTo?: string
  /** What the run's remote has of the branch, or of what the run names. */
  readonly pushed?: string
}

const postCreateTimeoutMs = 30 * 60_000

const requireBranchName = Effect.fnUntraced(function* (command: PrepareWorkspace, root: string) {
  const git = yield* Git
  const branch = command.branch ?? `reprise/${planSlug(command.planPath)}`
  return (yield* git.isBranchName(root, branch))
    ? branch
    : yield* refuse("other", `${quoted(branch)} cannot be the name of a branch.`)
})

/** An agent can make a commit of anything, on the branch of a run that is to come as well. */
const requireOwnFilters = Effect.fnUntraced(function* (root: string, branch: string, commit: string) {
  const others = yield* (yield* Git).otherFilters(root, commit)
  if (others.length > 0) {
    return yield* refuse("other", `No worktree on ${branch}: ${whyFiltersAreRefused(others, commit, root)}`)
  }
})

const createWorktree = Effect.fnUntraced(function* (root: string, directory: string, branch: string, from: string) {
  const git = yield* Git
  const known = yield* git.branchHead(root, branch)
  // A command of another run may make the branch meanwhile, or move it: what is asked once holds.
  const begun = known ?? (from === "HEAD" ? yield* git.head(root) : from) ?? from
  yield* requireOwnFilters(root, branch, begun)
  yield* git.addWorktree(root, directory, branch, known === undefined ? begun : undefined).pipe(
    Effect.catchIf(
      (fault): fault is GitFault => fault._tag === "GitFault" && !fault.transient,
      (fault) => refuse("in-use", `No worktree on ${branch}: ${fault.message}`)
    )
  )
  if ((yield* git.head(directory)) !== begun) {
    yield* Effect.ignore(git.removeWorktree(root, directory))
    return yield* refuse("in-use", `${quoted(branch)} was moved while its worktree was made. Try again.`)
  }
  return { directory, isNew: true, ...(known === undefined ? { newBranch: branch, begun } : {}) } satisfies Tree
})

/** One that an earlier run left on a branch, as the tree itself says. */
const leftOn = Effect.fnUntraced(function* (existing: ReadonlyArray<Worktree>, wanted: string) {
  const git = yield* Git
  for (const { branch, directory } of existing) {
    // Of a tree that somebody removed there is only the record.
    if (branch === wanted && (yield* Effect.orElseSucceed(git.branch(directory), () => undefined)) === wanted)
      return directory
  }
  return undefined
})

/** The run's own worktree, else one that an earlier run left on the same branch, else a new one. */
export const worktreeOfRun = Effect.fnUntraced(function* (command: PrepareWorkspace, root: string, refs?: RemoteRefs) {
  const own = worktreePath(root, command.runId)
  const existing = yield* listWorktrees(root)
  if (existing.some(({ directory }) => directory === own)) return { directory: own, isNew: false } satisfies Tree
  const wanted = yield* requireBranchName(command, root)
  const left = yield* leftOn(existing, wanted)
  const { remote } = command
  if (remote === undefined) {
    return left === undefined
      ? yield* createWorktree(root, own, wanted, "HEAD")
      : ({ directory: left, isNew: false } satisfies Tree)
  }
  // A run whose worktree git has forgotten was not looked for at the remote.
  const cloned = refs === undefined ? yield* cloneRemote(remote) : { root, refs }
  const { commit, move } = yield* beginningOf(cloned, remote, wanted, command.leaving !== undefined)
  if (left !== undefined) {
    return {
      directory: left,
      isNew: false,
      pushed: commit,
      ...(move ? { forwardTo: commit } : {})
    } satisfies Tree
  }
  if (move) yield* (yield* Remotes).moveBranch(root, wanted, commit)
  return { ...(yield* createWorktree(root, own, wanted, commit)), pushed: commit } satisfies Tree
})

/** Brings a worktree that an earlier run left to the commit at which this one begins. Nobody else works there any more. */
export const forward = ({ directory, forwardTo }: Tree) =>
  forwardTo === undefined
    ? Effect.void
    : Effect.flatMap(Remotes, (remotes) => remotes.fastForward(directory, forwardTo))

const endOf = (output: string): string => (output.trim() === "" ? "It printed nothing." : `It ends:\n${output}`)

const runPostCreate = Effect.fnUntraced(function* (command: PrepareWorkspace, root: string, directory: string) {
  const slugs = commandSlugs(command.postCreate)
  for (const [index, line] of command.postCreate.entries()) {
    const logPath = postCreateLog(command.runId, slugs[index] ?? String(index))
    const result = yield* runShell({
      runId: command.runId,
      command: line,
      directory,
      root,
      logPath,
      timeoutMs: postCreateTimeoutMs,
      environment: command.environment ?? []
    })
    if (result.exitCode !== 0) {
      const how = result.timedOut ? "took too long" : `ended with ${result.exitCode ?? "no exit code"}`
      return yield* refuse(
        "post-create",
        `workspace.postCreate '${line}' ${how}. Its log is ${result.logRef}. ${endOf(result.tail)}`
      )
    }
  }
})

/** The worktree must contain the plan; on a new branch, exactly the plan that was given. */
const requireSamePlan = Effect.fnUntraced(function* (command: PrepareWorkspace, plan: string | undefined, tree: Tree) {
  if (plan === undefined) return yield* requirePlan(tree.directory, command.planPath)
  const files = yield* WorkspaceFiles
  const found = yield* files.read(tree.directory, command.planPath)
  if (found === undefined || (tree.newBranch !== undefined && found !== plan)) {
    return yield* refuse(
      "dirty-tree",
      `A worktree would have another ${command.planPath} than the one given: it has changes that are not committed. Commit it first.`
    )
  }
})

const meanwhile =
  "A new worktree is not as its commit has it, though nobody has worked there: your own filter may do that, or a command of another run that wrote git's store meanwhile. Try again."

/**
 * Checks a worktree and runs `postCreate` once. `plan`: its text in the root; undefined where the root is a clone without
 * files. Returns the uncommitted paths that the run tolerates: those that the
 * `postCreate` commands left.
 */
export const setUpWorktree = Effect.fnUntraced(function* (
  command: PrepareWorkspace,
  root: string,
  plan: string | undefined,
  tree: Tree
) {
  const { directory } = tree
  // The record of a worktree that somebody removed is not that of a new one in its place.
  const before = tree.isNew ? undefined : yield* readPrepared({ directory, root })
  // This run has prepared it before, but crashed before it could report that.
  if (before !== undefined && directory === worktreePath(root, command.runId)) return before.tolerated
  yield* requireSamePlan(command, plan, tree)
  if (before !== undefined) return yield* requireClean({ directory, root }, command.allowDirty, before.tolerated)
  const clean = yield* requireClean({ directory, root }, command.allowDirty).pipe(
    Effect.mapError((error) =>
      error._tag === "Refused" && tree.isNew ? new Refused(error.kind, `${meanwhile} ${error.reason}`) : error
    )
  )
  yield* runPostCreate(command, root, directory)
  const tolerated = command.postCreate.length === 0 ? clean : yield* requireClean({ directory, root }, true)
  yield* markPrepared({ directory, root }, tolerated)
  return tolerated
})
