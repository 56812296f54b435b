/**
 * From which commit the first phase of a run is counted. What an author left on a branch when its run was aborted, and what a command
 * of one run put on the branch on which another begins, nobody has reviewed: it must not be where work begins
 * (docs/design/workspace.md#what-gates-run-on). The records are where no command of any run can write.
 */
import { rm } from "node:fs/promises"
import { join } from "node:path"
import { readForeignText, replaceFile, stateFolder, treeFolder } from "@reprise/process"
import { Effect, Option, Schema } from "effect"
import { HostFault } from "../faults.ts"
import { quoted } from "../git/commitNames.ts"
import { Git } from "../git/Git.ts"
import { refuse } from "./refusal.ts"

/** Full hashes. `left`: where the branch was when a run in the user's own tree ended without being complete. */
const Approved = Schema.Struct({ commit: Schema.String, left: Schema.optionalKey(Schema.String) })
type Approved = typeof Approved.Type
const Recorded = Schema.fromJsonString(Approved)
const decode = Schema.decodeUnknownOption(Recorded)

const recordOf = (root: string, branch: string) =>
  `${treeFolder(join(root, stateFolder), `refs/heads/${branch}`)}-approved.json`

const onDisk = <A>(run: () => Promise<A>) =>
  Effect.tryPromise({
    try: run,
    catch: (cause) => new HostFault({ operation: "keeping which commit of a branch is approved", cause })
  })

const read = (root: string, branch: string) =>
  Effect.map(
    onDisk(() => readForeignText(recordOf(root, branch), { largestBytes: 4096, follow: false })),
    (text) => (text === undefined ? undefined : Option.getOrUndefined(decode(text)))
  )

const write = (root: string, branch: string, approved: Approved) =>
  onDisk(() => replaceFile(recordOf(root, branch), JSON.stringify(approved)))

/** Whatever comes after this commit on the branch, no run has finished. */
export const recordApproved = (root: string, branch: string, commit: string) => write(root, branch, { commit })

/** A run in the user's own tree has ended: complete, or its commits stay for the next one to count. */
export const recordLeft = Effect.fn("recordLeft")(function* (root: string, branch: string, isComplete: boolean) {
  if (isComplete) return yield* onDisk(() => rm(recordOf(root, branch), { force: true }))
  const known = yield* read(root, branch)
  const left = yield* (yield* Git).branchHead(root, branch)
  if (known !== undefined && left !== undefined) yield* write(root, branch, { commit: known.commit, left })
})

/** A commit that is gone is no ancestor. */
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
  const known = yield* read(root, branch)
  const isKnown = known !== undefined && (yield* contains(root, known.commit, head))
  // Whoever has committed on top of it in the own tree has seen it.
  if (directory === root) return isKnown && (known.left ?? head) === head ? known.commit : head
  if (isKnown) return known.commit
  if (isNamed) return head
  const git = yield* Git
  const shared = yield* git.mergeBase(root, head, (yield* git.head(root)) ?? head)
  if (shared !== undefined) return shared
  return yield* refuse(
    "other",
    `The branch ${quoted(branch)} exists, has no commit in common with HEAD of ${root}, and no run has finished work on it. Remove it, or rename the plan.`
  )
})
