import { posix, relative } from "node:path"
import type { Difference } from "@reprise/process"
import { Effect } from "effect"
import type { InputOf, WorkspaceFact } from "../../actor/inputs.ts"
import type { Place } from "../../actor/work.ts"
import { Impossible, NotAFile } from "../faults.ts"
import { reviewFileProblem } from "../files/reviewFile.ts"
import { withoutTolerated } from "../files/toleratedFiles.ts"
import { WorkspaceFiles } from "../files/WorkspaceFiles.ts"
import { commitSubjects } from "../git/commitNames.ts"
import { Git } from "../git/Git.ts"
import { ownTreeFolder } from "../git/ownTreeFolder.ts"
import { runBranch } from "../git/runBranch.ts"
import { told } from "../git/uncommittedPaths.ts"
import { recordApproved } from "../prepare/approvedCommit.ts"
import { Remotes } from "../remote/Remotes.ts"
import { isApproved } from "./reviewCommits.ts"

type FinishPhase = InputOf<"FinishPhase">

/** An agent can leave millions, each with a long name. */
const mostListed = 200

const listed = (paths: ReadonlyArray<string>): ReadonlyArray<string> =>
  paths.length <= mostListed
    ? paths
    : [...paths.slice(0, mostListed), `… and ${paths.length - mostListed} more: git status lists them`]

/** What keeps the phase from being finished: uncommitted files, or commits that were not approved. */
const findBlock = Effect.fnUntraced(function* (
  { approved, phase, runId }: FinishPhase,
  place: Place,
  reviewPath: string,
  dirty: ReadonlyArray<Difference>,
  head: string
) {
  const { differences: others } = yield* withoutTolerated(
    place,
    dirty.filter(({ path }) => path !== reviewPath)
  )
  const odd = yield* reviewFileProblem(place.directory, head === "" ? undefined : head, reviewPath)
  const all = odd === undefined ? others : [odd, ...others]
  if (all.length > 0)
    return { _tag: "PhaseBlocked", runId, phase, dirty: listed(all.map(told)) } satisfies WorkspaceFact
  const own = yield* runBranch(place, head)
  if (own._tag === "Elsewhere") {
    const branch = { path: `git's refs/heads/${own.branch}`, why: own.why }
    return { _tag: "PhaseBlocked", runId, phase, dirty: [told(branch)] } satisfies WorkspaceFact
  }
  if (approved === undefined || (yield* isApproved(place.directory, approved, head, reviewPath))) return undefined
  return { _tag: "PhaseBlocked", runId, phase, dirty: [], head } satisfies WorkspaceFact
})

/** Returns the remote's branch that has the commit now; undefined: the run has no remote. */
const pushToRemote = Effect.fnUntraced(function* ({ branch, directory, remote, root }: Place, head: string) {
  if (remote === undefined) return undefined
  const git = yield* Git
  // An agent may have changed branches; its commits belong to the run's all the same.
  const target = branch ?? (yield* git.branch(directory))
  if (target === undefined) {
    return yield* new Impossible({ reason: `HEAD of ${directory} is on no branch. Check out the run's branch again.` })
  }
  yield* (yield* Remotes).push(root, remote, head, target)
  return target
})

/**
 * Commits the review file, the only file that may be uncommitted, and reads the plan again
 * (docs/design/workspace.md#workspace). HEAD must be what was approved, or follow it by commits of that file alone. Where the code
 * came from a remote, the run's branch is pushed. When it is repeated after a crash, it finds its commit and does not
 * make a second one.
 */
export const finishPhase = Effect.fn("finishPhase")(function* (command: FinishPhase, place: Place) {
  const git = yield* Git
  const files = yield* WorkspaceFiles
  const { phase, runId } = command
  const { directory } = place
  const reviewPath = posix.normalize(command.reviewPath)
  // Fails when the path leads out of the workspace.
  const kind = yield* files.kind(directory, reviewPath)

  const dirty = yield* git
    .differences(directory, ownTreeFolder(place), "after")
    .pipe(Effect.catchTag("NotAFile", ({ path }) => Effect.succeed(relative(directory, path))))
  // On this file git waits forever, so nothing can be committed before it is removed.
  if (typeof dirty === "string") return { _tag: "PhaseBlocked", runId, phase, dirty: [dirty] } satisfies WorkspaceFact
  const now = (yield* git.head(directory)) ?? ""
  const blocked = yield* findBlock(command, place, reviewPath, dirty, now)
  if (blocked !== undefined) return blocked
  const plan = yield* files.read(directory, command.planPath)
  if (plan === undefined) {
    return yield* new Impossible({ reason: `The plan ${command.planPath} is gone. Restore it from git.` })
  }

  const isReviewDirty = dirty.some(({ path }) => path === reviewPath)
  if (kind === "huge" && isReviewDirty) {
    return yield* new NotAFile({ path: reviewPath, what: "is too large to be committed" })
  }
  const message = `docs(review): finalize phase ${phase}`
  const made = isReviewDirty
    ? yield* git.commitFile(directory, ownTreeFolder(place), { head: now, message, path: reviewPath })
    : undefined
  if (made?._tag === "Refused")
    return { _tag: "PhaseBlocked", runId, phase, dirty: listed(made.differences.map(told)) } satisfies WorkspaceFact
  const head = made?.head ?? now
  const isCommit = head !== now || (yield* git.subject(directory, head)) === message
  const subjects = yield* commitSubjects(directory, command.commits ?? [])
  const pushed = yield* pushToRemote(place, head)
  if (place.branch !== undefined && (yield* git.branchHead(directory, place.branch)) === head) {
    yield* recordApproved(place.root, place.branch, head)
  }
  return {
    _tag: "PhaseFinished",
    runId,
    phase,
    head,
    ...(isCommit ? { commit: head } : {}),
    ...(pushed === undefined ? {} : { pushed }),
    plan,
    ...(subjects.length === 0 ? {} : { subjects })
  } satisfies WorkspaceFact
})
