/** The git worktrees that Reprise created: `.reprise/worktrees/<run>` (docs/design/workspace.md#workspace). */
import { join } from "node:path"
import type { RunId } from "@reprise/protocol"
import { Effect } from "effect"
import { HostFault } from "../faults.ts"
import { Git } from "./Git.ts"
import { removeOwnTreeFolder } from "./ownTreeFolder.ts"
import { uncommittedPaths } from "./uncommittedPaths.ts"

const folder = (root: string) => join(root, ".reprise", "worktrees")

/** Absolute path of a run's worktree, whether it exists or not. */
export const worktreePath = (root: string, runId: RunId): string => join(folder(root), runId)

/** Directly in the folder of worktrees, in which no command writes: a path with `..` leads elsewhere. */
const isOwn = (root: string, directory: string): boolean => {
  const above = `${folder(root)}/`
  const name = directory.slice(above.length)
  return directory.startsWith(above) && ![".", "..", ""].includes(name) && !name.includes("/")
}

/**
 * The worktrees of this repository that Reprise created. A command can write records that name any folder and any branch; those of
 * other folders are left out, the branch only the tree itself can tell.
 */
export const listWorktrees = Effect.fn("listWorktrees")(function* (root: string) {
  const git = yield* Git
  const all = yield* git.worktrees(root)
  return all.filter(({ directory }) => isOwn(root, directory))
})

const isWorktree = (root: string, directory: string) =>
  Effect.map(listWorktrees(root), (worktrees) => worktrees.some((one) => one.directory === directory))

const isMerged = Effect.fnUntraced(function* (root: string, directory: string) {
  const git = yield* Git
  const head = yield* git.head(directory)
  return head !== undefined && (yield* git.isAncestor(root, head, "HEAD"))
})

const isPartOf = Effect.fnUntraced(function* (directory: string, commit: string | undefined) {
  const git = yield* Git
  const head = yield* git.head(directory)
  return head !== undefined && commit !== undefined && (yield* git.isAncestor(directory, head, commit))
})

/** What would be lost if a worktree was removed. */
export const worktreeState = Effect.fn("worktreeState")(function* (root: string, directory: string) {
  return {
    /** Whether all commits of the worktree are reachable from the repository's HEAD. */
    merged: yield* isMerged(root, directory),
    /** Uncommitted paths. */
    dirty: yield* uncommittedPaths(directory)
  }
})

/** Removes a worktree with everything in it; its branch stays. Does nothing when there is no such worktree. */
export const removeWorktree = Effect.fn("removeWorktree")(function* (root: string, directory: string) {
  const git = yield* Git
  if (!(yield* isWorktree(root, directory))) return
  yield* git.removeWorktree(root, directory)
  yield* Effect.tryPromise({
    try: () => removeOwnTreeFolder({ directory, root }),
    catch: (cause) => new HostFault({ operation: `removing ${directory}`, cause })
  })
})

/**
 * Removes a worktree if nothing in it is uncommitted, and its commits are merged or part of `kept`, a commit that is kept
 * elsewhere. Returns whether it was removed.
 */
export const removeMergedWorktree = Effect.fn("removeMergedWorktree")(function* (
  root: string,
  directory: string,
  kept?: string
) {
  if (!(yield* isWorktree(root, directory))) return false
  const { dirty, merged } = yield* worktreeState(root, directory)
  if (dirty.length > 0 || !(merged || (yield* isPartOf(directory, kept)))) return false
  yield* removeWorktree(root, directory)
  return true
})
