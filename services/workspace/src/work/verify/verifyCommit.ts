/** The rules that a commit which the author reports must meet, and the message that says which it breaks. */
import { posix } from "node:path"
import type { Difference } from "@reprise/process"
import { Effect } from "effect"
import type { InputOf, WorkspaceFact } from "../../actor/inputs.ts"
import type { Place } from "../../actor/work.ts"
import { type GitFault, isOfTree, type NotAFile, type UnreadableTree } from "../faults.ts"
import { isAmong, listSome } from "../files/ownFiles.ts"
import { reviewFileProblem } from "../files/reviewFile.ts"
import { withoutTolerated } from "../files/toleratedFiles.ts"
import { isCommitName, quoted, rewrittenBase } from "../git/commitNames.ts"
import { Git } from "../git/Git.ts"
import type { GitObject } from "../git/gitOutput.ts"
import { ownTreeFolder } from "../git/ownTreeFolder.ts"
import { runBranch } from "../git/runBranch.ts"
import { told, withoutLocalSettings } from "../git/uncommittedPaths.ts"
import { hiddenInDiff } from "./hiddenInDiff.ts"

type VerifyCommit = InputOf<"VerifyCommit">
export type Rejection = Pick<Extract<WorkspaceFact, { readonly _tag: "CommitRejected" }>, "reason" | "detail">

export const rejection = (reason: Rejection["reason"], detail: string): Rejection => ({ reason, detail })

/** The full hash that a name stands for. A branch whose name looks like a hash does not count. */
const commitOf = (name: string, object: GitObject | undefined): string | Rejection => {
  switch (object?._tag) {
    case "Found":
      if (!object.hash.startsWith(name.toLowerCase())) {
        return rejection("missing", `There is no commit ${quoted(name)} in this repository.`)
      }
      return object.type === "commit"
        ? object.hash
        : rejection("not-a-commit", `${quoted(name)} is a ${object.type}, not a commit.`)
    case "Ambiguous":
      return rejection("missing", `${quoted(name)} is ambiguous: several objects begin with it. Give the whole hash.`)
    case "Missing":
    case undefined:
      return rejection("missing", `There is no commit ${quoted(name)} in this repository.`)
  }
}

/** The full hash of a commit that is reachable from HEAD and newer than the base, or the first rule that it breaks. */
export const newCommit = Effect.fnUntraced(function* (directory: string, reported: string, base: string) {
  const git = yield* Git
  const name = reported.trim()
  if (name === "") return rejection("missing", "No commit was named.")
  if (!isCommitName(name)) {
    return rejection("not-a-commit", `${quoted(name)} is not a commit hash. Give the hash that git log shows.`)
  }
  if (!isCommitName(base)) return rejection("not-new", `The base ${quoted(base)} is not a commit hash.`)

  const [object, baseObject] = yield* git.describe(directory, [name, base])
  const commit = commitOf(name, object)
  if (typeof commit !== "string") return commit
  const from = commitOf(base, baseObject)
  if ((yield* git.head(directory)) !== commit && !(yield* git.isAncestor(directory, commit, "HEAD"))) {
    return rejection(
      "unreachable",
      `${commit} is not reachable from HEAD: it is on another branch, or was amended or reset away.`
    )
  }
  if (typeof from !== "string")
    return rejection("not-new", `The commit that this work began from is gone. ${from.detail}`)
  if (commit === from) return rejection("not-new", `${commit} is the commit that this work began from.`)
  return (yield* git.isAncestor(directory, from, commit))
    ? commit
    : rejection("not-new", `${commit} is not a descendant of ${from}, where this work began.`)
})

/** Gates run on the files of HEAD, so the commit that is reviewed must be HEAD. */
const notHead = (commit: string, head: string | undefined) =>
  head === commit
    ? undefined
    : rejection(
        "dirty-tree",
        `HEAD is ${head}, and ${commit} was reported: quality gates would run on other files than a reviewer is shown. Report HEAD, or take what comes after ${commit} off the branch.`
      )

/** The commit since which a phase is shown. A rewritten history may have left nothing of where it began: then `base`. */
export const shownSince = Effect.fnUntraced(function* (
  directory: string,
  { base, phaseBase }: Pick<VerifyCommit, "base" | "phaseBase">
) {
  if (phaseBase === undefined || !isCommitName(phaseBase)) return base
  const [began] = yield* (yield* Git).describe(directory, [phaseBase])
  return began?._tag === "Found" && began.type === "commit" ? began.hash : base
})

const inPart =
  "has another content than this work's commits have of it, and quality gates see it: commit it as it is, or leave it out of the commits"

/**
 * What is not committed, as a rejection, or what a person is told of it. Reprise's own files do not count, and those that are as they
 * were before the run only where the work commits them: gates would run on another content than a reviewer is shown.
 */
export const uncommitted = Effect.fnUntraced(function* (
  place: Place,
  reviewPath: string | undefined,
  work: { readonly base: string; readonly commit: string }
) {
  const git = yield* Git
  const review = reviewPath === undefined ? [] : [posix.normalize(reviewPath)]
  const differences = yield* git.differences(place.directory, ownTreeFolder(place), "after")
  // What is told with a reason is more than a file with the user's settings, such as a folder in its place.
  const shown = differences.flatMap(({ path, why }) => (why === undefined ? [path] : []))
  const counted = new Set(yield* withoutLocalSettings(place.directory, shown))
  const found = differences.filter(
    ({ path, why }) => (why !== undefined || counted.has(path)) && !isAmong(path, review)
  )
  const isAnyTolerated = found.some(({ path }) => isAmong(path, place.tolerated))
  const worked = new Set(isAnyTolerated ? yield* git.changed(place.directory, work.base, work.commit) : [])
  const halfway = found.filter(({ path }) => worked.has(path))
  const { changed, differences: others } = yield* withoutTolerated(
    place,
    found.filter(({ path }) => !worked.has(path))
  )
  const isTolerated = ({ path }: Difference) => isAmong(path, place.tolerated)
  const dirty = [...halfway.map((one) => (isTolerated(one) ? { ...one, why: inPart } : one)), ...others]
  const [path] = review
  const odd = path === undefined ? undefined : yield* reviewFileProblem(place.directory, work.commit, path)
  const all = odd === undefined ? dirty : [odd, ...dirty]
  if (all.length > 0) return rejection("dirty-tree", `Not committed: ${listSome(all.map(told))}.`)
  return changed.length === 0
    ? undefined
    : `Files that were not committed when the run began have changed, by you or by the author; quality gates see them: ${listSome(changed)}.`
})

const short = (hash: string | undefined) => hash?.slice(0, 12) ?? "nothing"

/** Whoever merges the run's branch must get what was verified; or what a person is told of it. `head`: the commit that HEAD is. */
export const ownBranch = Effect.fnUntraced(function* (place: Place, head: string) {
  const found = yield* runBranch(place, head)
  switch (found._tag) {
    case "There":
      return undefined
    case "Behind":
      return `HEAD is not on ${quoted(found.branch)}, the branch of the run, which stays at ${short(found.now)}: what was verified is at ${short(head)}.`
    case "Elsewhere":
      return rejection(
        "dirty-tree",
        `Whoever merges ${quoted(found.branch)}, the branch of the run, would not get this work: it ${found.why}.`
      )
  }
})

/** What git cannot read is the author's to fix, such as a pipe in the place of `.gitignore`, or a `HEAD` that it removed. */
export const unreadable = ({ message }: GitFault | NotAFile | UnreadableTree) => rejection("dirty-tree", message)

/** The first rule that the commit breaks, or the full hash of a commit that breaks none, and what it changes. */
const applyRules = Effect.fnUntraced(function* (command: VerifyCommit, place: Place) {
  const git = yield* Git
  const { directory } = place
  const { base } = command
  const since = yield* shownSince(directory, command)
  const commit = yield* newCommit(directory, command.commit, base)
  if (typeof commit !== "string") return commit
  if (!(yield* git.hasDiff(directory, base, commit))) {
    return rejection(
      "empty",
      `There is no difference between the files of ${base} and ${commit}. Commit the work, or take ${commit} off the branch: 'git reset --keep ${base}'.`
    )
  }
  const dirty =
    notHead(commit, yield* git.head(directory)) ??
    (yield* uncommitted(place, command.reviewPath, { base: since, commit }))
  if (dirty !== undefined && typeof dirty !== "string") return dirty
  const branch = yield* ownBranch(place, commit)
  if (branch !== undefined && typeof branch !== "string") return branch
  const hidden = yield* hiddenInDiff(directory, base, commit)
  if (typeof hidden === "string") return rejection("dirty-tree", hidden)
  const diffStat = yield* git.diffStat(directory, since, commit)
  const notes = [dirty, branch, ...hidden].filter((note) => note !== undefined)
  return { commit, diffStat, ...(notes.length === 0 ? {} : { notes }) }
})

/** The commit must be new work, complete, and reachable from HEAD (docs/design/workspace.md#workspace). */
export const verifyCommit = Effect.fn("verifyCommit")(function* (command: VerifyCommit, place: Place) {
  const { phase, runId } = command
  const outcome = yield* applyRules(command, place).pipe(
    Effect.catchIf(isOfTree, (fault) => Effect.succeed(unreadable(fault)))
  )
  if ("reason" in outcome) {
    const base = outcome.reason === "not-new" ? yield* rewrittenBase(place.directory, command.base) : undefined
    const rewritten = base === undefined ? {} : { base }
    const { commit } = command
    return { _tag: "CommitRejected", runId, phase, commit, ...outcome, ...rewritten } satisfies WorkspaceFact
  }
  return { _tag: "CommitVerified", runId, phase, ...outcome } satisfies WorkspaceFact
})
