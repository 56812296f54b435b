/**
 * What may follow an approved commit: commits of the review file alone, in one line. A merge of the same files, or the same files on
 * other parents, is another history, which nobody has verified or reviewed, and whoever merges the work gets it.
 */
import { Effect } from "effect"
import { Git } from "../git/Git.ts"
import type { CommitParents } from "../git/gitOutput.ts"

/** Whether the commits, newest first, lead one by one to `approved`. Pure. */
export const leadsTo = (approved: string, commits: ReadonlyArray<CommitParents>): boolean =>
  commits.every(({ parents }, at) => parents.length === 1 && parents[0] === (commits[at + 1]?.commit ?? approved))

/** Nobody commits one review so often; more are verified as work. */
const mostCommits = 20

/** Whether HEAD's commit is the approved one, or followed it by commits that change the review file alone. */
export const isApproved = Effect.fn("isApproved")(function* (
  directory: string,
  approved: string,
  head: string,
  reviewPath: string
) {
  if (head === approved) return true
  const git = yield* Git
  const commits = yield* git.commitsSince(directory, approved, head, mostCommits + 1)
  if (commits.length === 0 || commits.length > mostCommits || !leadsTo(approved, commits)) return false
  for (const { commit, parents } of commits) {
    const changed = yield* git.changed(directory, parents[0] ?? "", commit)
    if (changed.length === 0 || changed.some((path) => path !== reviewPath)) return false
  }
  return true
})
