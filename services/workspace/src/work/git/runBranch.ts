/**
 * The branch of a run is what its user merges or pushes, whatever HEAD is. An author can leave commits there that nobody has verified,
 * and go on elsewhere; or make something else of its short name, which git takes first.
 */
import { Effect } from "effect"
import type { Place } from "../../actor/work.ts"
import { Git } from "./Git.ts"

export type RunBranch =
  /** The branch is the commit, or the run has none. */
  | { readonly _tag: "There" }
  /** The branch is where it was, on the way to the commit. `now`: its full hash. */
  | { readonly _tag: "Behind"; readonly branch: string; readonly now: string }
  /** Whoever takes the branch gets something else. `why`: the predicate of a sentence about it, with the next step. */
  | { readonly _tag: "Elsewhere"; readonly branch: string; readonly why: string }

const there: RunBranch = { _tag: "There" }

/** Compares the run's branch with the commit that HEAD is, a full hash. */
export const runBranch = Effect.fn("runBranch")(function* (place: Place, head: string) {
  const { branch, directory, root } = place
  if (branch === undefined) return there
  const git = yield* Git
  const now = yield* git.branchHead(directory, branch)
  const putBack = `Put it there: 'git checkout -B ${branch} ${head}'`
  if (now === undefined) return { _tag: "Elsewhere", branch, why: `is gone. ${putBack}` } satisfies RunBranch
  if (now !== head) {
    if (yield* git.isAncestor(directory, now, head)) return { _tag: "Behind", branch, now } satisfies RunBranch
    const why = `is at ${now}, with commits that HEAD does not have. ${putBack}`
    return { _tag: "Elsewhere", branch, why } satisfies RunBranch
  }
  // In the user's own tree the user may have a tag of that name.
  const named = directory === root ? now : yield* git.named(directory, branch)
  if (named === now) return there
  const why = `is hidden behind something else of its name, which stands for ${named ?? "nothing"}. Remove that: 'git for-each-ref' lists it, or it is a file in git's folder`
  return { _tag: "Elsewhere", branch, why } satisfies RunBranch
})
