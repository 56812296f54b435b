/** The git worktrees that Reprise made: `.reprise/worktrees/<run>` (workspace: Prepare). */
import { rm } from "node:fs/promises"
import { join } from "node:path"
import type { RunId } from "@reprise/protocol"
import { Effect } from "effect"
import { HostFault } from "./faults.ts"
import { foreignDirt } from "./foreignDirt.ts"
import { Git, type Worktree } from "./Git.ts"

const folder = (root: string) => join(root, ".reprise", "worktrees")

/** Absolute path of a run's worktree, whether it exists or not. */
export const worktreePath = (root: string, runId: RunId): string => join(folder(root), runId)

/** Those of this repository that Reprise made. */
export const listWorktrees = Effect.fn("listWorktrees")(function* (root: string) {
  const git = yield* Git
  const all = yield* git.worktrees(root)
  return all.filter(({ directory }) => directory.startsWith(`${folder(root)}/`))
})

const isMerged = Effect.fnUntraced(function* (root: string, directory: string) {
  const git = yield* Git
  const head = yield* git.head(directory)
  return head !== undefined && (yield* git.isAncestor(root, head, "HEAD"))
})

/** What would be lost with a worktree, and what is left to do with its branch. */
export const worktreeState = Effect.fn("worktreeState")(function* (root: string, directory: string) {
  return {
    /** The repository's HEAD has all of its commits. */
    merged: yield* isMerged(root, directory),
    /** Paths that are not committed. */
    dirty: yield* foreignDirt(directory)
  }
})

/** Removes a worktree, with all that is in it; its branch stays. A worktree that is not there is removed already. */
export const removeWorktree = Effect.fn("removeWorktree")(function* (root: string, directory: string) {
  const git = yield* Git
  const worktree: Worktree | undefined = (yield* listWorktrees(root)).find((one) => one.directory === directory)
  if (worktree === undefined) return
  yield* git.removeWorktree(root, directory)
  // git leaves a directory behind that something was writing into.
  yield* Effect.tryPromise({
    try: () => rm(directory, { recursive: true, force: true }),
    catch: (cause) => new HostFault({ operation: `removing ${directory}`, cause })
  })
})

/** Removes a worktree whose commits the repository's HEAD has and that holds nothing unsaved; keeps any other. */
export const removeMergedWorktree = Effect.fn("removeMergedWorktree")(function* (root: string, directory: string) {
  const known = (yield* listWorktrees(root)).some((one) => one.directory === directory)
  if (!known || !(yield* isMerged(root, directory)) || (yield* foreignDirt(directory)).length > 0) return false
  yield* removeWorktree(root, directory)
  return true
})
