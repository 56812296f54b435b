/** Brings the code of a run to this host: a clone of its remote, and the commit from which its branch begins. */
import { remoteProblem } from "@reprise/process"
import type { GitRemote } from "@reprise/protocol"
import { Effect } from "effect"
import type { GitFault } from "../faults.ts"
import { excludePatterns } from "../files/ownFiles.ts"
import { WorkspaceFiles } from "../files/WorkspaceFiles.ts"
import { quoted } from "../git/commitNames.ts"
import { Git } from "../git/Git.ts"
import { GitDirectory } from "../git/GitDirectory.ts"
import { Remotes } from "../remote/Remotes.ts"
import { refuse } from "./refusal.ts"

/** The root of the clone. */
export const cloneRemote = Effect.fn("cloneRemote")(function* ({ url }: GitRemote) {
  const problem = remoteProblem(url)
  if (problem !== undefined) return yield* refuse("other", `The remote ${quoted(url)} ${problem}`)
  const [files, git, own, remotes] = [yield* WorkspaceFiles, yield* Git, yield* GitDirectory, yield* Remotes]
  // What may pass is tried again by whoever asked for the work.
  yield* remotes.fetch(url).pipe(
    Effect.catchIf(
      (fault): fault is GitFault => fault._tag === "GitFault" && !fault.transient,
      ({ message }) => refuse("other", `This host cannot get ${quoted(url)}: ${message.trimEnd()}`)
    )
  )
  const root = yield* files.realPath(remotes.cloneOf(url))
  yield* own.exclude(yield* git.gitPath(root, "info/exclude"), excludePatterns)
  return root
})

const nowhere = ({ ref, url }: GitRemote) =>
  refuse(
    "other",
    ref === undefined
      ? `${quoted(url)} has no default branch with a commit. Push one, or name a branch.`
      : `${quoted(url)} has no branch, tag or commit ${quoted(ref)}. Push it first.`
  )

/**
 * The commit from which a new branch begins: what the remote has on this branch, since another host may have worked on
 * it; else what the run names. A branch that this host has already is moved forward to it, if that loses nothing.
 */
export const beginningOf = Effect.fn("beginningOf")(function* (
  root: string,
  remote: GitRemote,
  branch: string,
  workTree: string | undefined
) {
  const git = yield* Git
  const remotes = yield* Remotes
  const pushed = yield* remotes.branchTip(root, branch)
  const there = pushed ?? (yield* remotes.resolve(root, remote.ref))
  if (there === undefined) return yield* nowhere(remote)
  const here = yield* git.branchHead(root, branch)
  if (here === undefined || here === there) return there
  if (yield* git.isAncestor(root, here, there)) {
    yield* remotes.fastForward(root, branch, there, workTree)
  } else if (pushed !== undefined && !(yield* git.isAncestor(root, there, here))) {
    return yield* refuse(
      "other",
      `The branch ${branch} has other commits on this host (${root}) than at ${quoted(remote.url)}. Merge or remove one of them, or rename the plan.`
    )
  }
  return there
})
