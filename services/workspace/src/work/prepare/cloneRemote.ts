/** Brings the code of a run to this host: a clone of its remote, and the commit from which its branch begins. */
import { existsSync } from "node:fs"
import { remoteProblem, withoutLogin } from "@reprise/process"
import type { GitRemote } from "@reprise/protocol"
import { Effect } from "effect"
import type { GitFault, NoAnswer } from "../faults.ts"
import { excludePatterns } from "../files/ownFiles.ts"
import { WorkspaceFiles } from "../files/WorkspaceFiles.ts"
import { quoted } from "../git/commitNames.ts"
import { Git } from "../git/Git.ts"
import { GitDirectory } from "../git/GitDirectory.ts"
import { settleLocks } from "../git/leftLocks.ts"
import { Remotes } from "../remote/Remotes.ts"
import { atRemote, type RemoteRefs } from "../remote/remoteRefs.ts"
import { type Refused, refuse } from "./refusal.ts"

/** The code of a remote on this host. `refs`: what the remote says that it has. */
export interface Cloned {
  readonly root: string
  readonly refs: RemoteRefs
}

export const cloneRemote = Effect.fn("cloneRemote")(function* ({ url }: GitRemote) {
  const problem = remoteProblem(url)
  if (problem !== undefined) return yield* refuse("other", `The remote ${quoted(withoutLogin(url))} ${problem}`)
  const [files, git, own, remotes] = [yield* WorkspaceFiles, yield* Git, yield* GitDirectory, yield* Remotes]
  const clone = remotes.cloneOf(url)
  // What may pass is tried again by whoever asked for the work, but for a lock that nobody has.
  const refs = yield* remotes.fetch(url).pipe(
    Effect.catchIf(
      (fault) => fault._tag === "GitFault" && fault.transient && existsSync(clone),
      () => Effect.andThen(settleLocks(clone, "write"), remotes.fetch(url))
    ),
    Effect.catchIf(
      (fault): fault is GitFault => fault._tag === "GitFault" && !fault.transient,
      ({ message }) => refuse("other", `This host cannot get ${quoted(url)}: ${message.trimEnd()}`)
    )
  )
  const root = yield* files.realPath(clone)
  yield* own.exclude(yield* git.gitPath(root, "info/exclude"), excludePatterns)
  return { root, refs } satisfies Cloned
})

const nowhere = ({ ref, url }: GitRemote) =>
  refuse(
    "other",
    ref === undefined
      ? `${quoted(url)} has no default branch with a commit. Push one, or name a branch.`
      : `${quoted(url)} has no branch, tag or commit ${quoted(ref)}. Push it first.`
  )

/**
 * The commit from which the run goes on: what the remote has on its branch, since another host may have worked on it; what
 * the run names, if that has it already.
 */
const beginningAt = Effect.fnUntraced(function* ({ refs, root }: Cloned, remote: GitRemote, branch: string) {
  const git = yield* Git
  const remotes = yield* Remotes
  const commitAt = (hash: string | undefined) =>
    hash === undefined ? Effect.undefined : remotes.commitHere(root, hash)
  const isHash = remote.ref !== undefined && /^[0-9a-f]{40,64}$/.test(remote.ref)
  const named = yield* commitAt(atRemote(refs, remote.ref) ?? (isHash ? remote.ref : undefined))
  const pushed = yield* commitAt(refs.branches.get(branch))
  if (named === undefined && (pushed === undefined || remote.ref !== undefined)) return yield* nowhere(remote)
  if (named === undefined || pushed === undefined) return named ?? pushed ?? ""
  return (yield* git.isAncestor(root, pushed, named)) ? named : pushed
})

/** Where a run's branch is to begin, and whether the branch that this host has must be moved there first. */
export interface Beginning {
  /** What the remote has: whatever this host has beside it was not pushed, so no run has finished it. */
  readonly commit: string
  readonly move: boolean
}

/** `isMoved`: the run comes from a host that is gone, so nothing counts but what was pushed. */
export const beginningOf = Effect.fn("beginningOf")(function* (
  cloned: Cloned,
  remote: GitRemote,
  branch: string,
  isMoved: boolean
): Effect.fn.Return<Beginning, GitFault | NoAnswer | Refused, Git | Remotes> {
  const git = yield* Git
  const { root } = cloned
  const commit = yield* beginningAt(cloned, remote, branch)
  const here = yield* git.branchHead(root, branch)
  if (here === undefined || here === commit) return { commit, move: false }
  if (isMoved || (yield* git.isAncestor(root, here, commit))) return { commit, move: true }
  if (yield* git.isAncestor(root, commit, here)) return { commit, move: false }
  return yield* refuse(
    "other",
    `The branch ${branch} has other commits on this host (${root}) than at ${quoted(remote.url)}. Merge or remove one of them, or rename the plan.`
  )
})
