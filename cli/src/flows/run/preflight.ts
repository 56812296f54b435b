/** Checks of the repository before a run starts. */
import { Git } from "@reprise/workspace/git"
import { uncommittedPaths } from "@reprise/workspace/uncommittedPaths"
import { Effect } from "effect"
import { isInitialised } from "../../project/Project.ts"
import { missing } from "../../terminal/CliFailure.ts"
import { visibleLine } from "../../terminal/visible.ts"
import type { PreparedRun } from "./prepareRun.ts"

const shownPaths = 10

const gitFailed = (root: string) => (fault: { readonly _tag: string; readonly message: string }) => {
  const hint =
    fault._tag === "NotAFile" ? "Git would wait for it forever." : `Try 'git status' in ${visibleLine(root)}.`
  return missing("git", fault.message, hint, fault)
}

/** Fails with exit code 3 if nothing was committed yet. */
export const requireCommit = Effect.fn("requireCommit")(function* ({ project: { root } }: PreparedRun) {
  const git = yield* Git
  const head = yield* git.head(root).pipe(Effect.mapError(gitFailed(root)))
  if (head !== undefined) return
  return yield* missing(
    "no-commit",
    `${visibleLine(root)} has no commit yet.`,
    "Commit the plan first: git add, git commit."
  )
}, Effect.provide(Git.layer))

/**
 * Fails with exit code 3, naming what is not committed, untracked files included. A run in a worktree, of a remote, or one
 * that allows uncommitted files, needs no clean tree.
 */
export const requireCleanTree = Effect.fn("requireCleanTree")(function* ({
  options,
  project: { root },
  remote
}: PreparedRun) {
  if (options.allowDirty || options.worktree || remote !== undefined) return
  const dirty = yield* uncommittedPaths(root).pipe(Effect.mapError(gitFailed(root)))
  if (dirty.length === 0) return
  const list = dirty.slice(0, shownPaths).map((path) => `  ${visibleLine(path)}`)
  const more = dirty.length > shownPaths ? [`  … and ${dirty.length - shownPaths} more`] : []
  return yield* missing(
    "dirty-tree",
    ["The working tree is not clean:", ...list, ...more].join("\n"),
    "Commit or stash your changes, or use --allow-dirty."
  )
}, Effect.provide(Git.layer))

/** The same before the first broker starts here, so that a refused run leaves nothing behind. */
export const requireFirstCleanTree = (prepared: PreparedRun) =>
  prepared.config.settings.nats.url !== undefined || isInitialised(prepared.project)
    ? Effect.void
    : requireCleanTree(prepared)
