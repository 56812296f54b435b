import { Effect } from "effect"
import { unwatched, unwatchedFiles } from "./flaggedFiles.ts"
import { insist } from "./ownIndex.ts"
import type { GitOptions } from "./runGit.ts"
import type { ProgramFailed } from "./runProgram.ts"
import { cameSince } from "./standing.ts"

/**
 * Takes flags off by which git would not see changes, of files that had none when `differencesFromCommit` looked at the tree before
 * anybody worked in it; gives their paths. The files stay as they are. `folder`: as in `Comparison`. Without what it recorded there
 * nothing is done. Fails where git does, such as while another git holds the lock of the index.
 */
export const takeOffFlags = Effect.fn("takeOffFlags")(function* (
  directory: string,
  folder: string,
  options: GitOptions = {}
): Effect.fn.Return<ReadonlyArray<string>, ProgramFailed> {
  const flagged = (yield* unwatchedFiles(directory, options)).map((path) => ({ path, why: unwatched }))
  const paths = (yield* cameSince(folder, flagged)).map(({ path }) => path)
  if (paths.length === 0) return []
  const input = paths.map((path) => `${path}\0`).join("")
  // With both, git obeys one.
  for (const flag of ["--no-assume-unchanged", "--no-skip-worktree"]) {
    yield* insist(directory, ["update-index", flag, "-z", "--stdin"], { ...options, input })
  }
  return paths
})
