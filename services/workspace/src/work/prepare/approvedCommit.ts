/**
 * From which commit the first phase of a run is counted. What an author left on a branch when its run was aborted, and what a command
 * of one run put on the branch on which another begins, nobody has reviewed: it must not be where work begins
 * (docs/design/workspace.md#what-gates-run-on). The records are where no command of any run can write.
 */
import { Effect } from "effect"
import { quoted } from "../git/commitNames.ts"
import { Git } from "../git/Git.ts"
import { refuse } from "./refusal.ts"

/** Whatever comes after this commit on the branch, no run has finished. */
export const recordApproved = (root: string, branch: string, commit: string) =>
  Effect.flatMap(Git, (git) => git.recordApproved(root, branch, { commit }))

/** A run in the user's own tree has ended: complete, or its commits stay for the next one to count. */
export const recordLeft = Effect.fn("recordLeft")(function* (root: string, branch: string, isComplete: boolean) {
  const git = yield* Git
  if (isComplete) return yield* git.recordApproved(root, branch, undefined)
  const known = yield* git.approved(root, branch)
  const left = yield* git.branchHead(root, branch)
  if (known !== undefined && left !== undefined) yield* git.recordApproved(root, branch, { commit: known.commit, left })
})

/** A commit that is gone is not an ancestor. */
const contains = Effect.fnUntraced(function* (root: string, commit: string, head: string) {
  const git = yield* Git
  return yield* git.isAncestor(root, commit, head).pipe(Effect.catchTag("GitFault", () => Effect.succeed(false)))
})

export interface Begun {
  readonly root: string
  readonly directory: string
  readonly branch: string
  /** The commit of the branch. */
  readonly head: string
  /** What the run's remote has of the branch, or of what the run names. */
  readonly pushed?: string
  /** Whether the user has named the branch, and not Reprise. */
  readonly isNamed: boolean
}

/** The last commit of a branch that somebody answers for; its HEAD where nothing came after it. */
export const approvedCommit = Effect.fn("approvedCommit")(function* (begun: Begun) {
  const { branch, directory, head, isNamed, pushed, root } = begun
  if (pushed !== undefined) return (yield* contains(root, pushed, head)) ? pushed : head
  const git = yield* Git
  const known = yield* git.approved(root, branch)
  const isKnown = known !== undefined && (yield* contains(root, known.commit, head))
  // Whoever has committed on top of it in the own tree has seen it.
  if (directory === root) return isKnown && (known.left ?? head) === head ? known.commit : head
  if (isKnown) return known.commit
  if (isNamed) return head
  const shared = yield* git.mergeBase(root, head, (yield* git.head(root)) ?? head)
  if (shared !== undefined) return shared
  return yield* refuse(
    "other",
    `The branch ${quoted(branch)} exists, has no commit in common with HEAD of ${root}, and no run has finished work on it. Remove it, or rename the plan.`
  )
})
