/**
 * Merges that are not what git makes of their parents. The diff of the work shows nothing of a merge that leaves out what the other
 * side has changed; whoever merges the work then undoes that side, without a conflict.
 */
import { shadowedAttributes } from "@reprise/process"
import { Effect } from "effect"
import { isOfTree } from "../faults.ts"
import { type CommitParents, linesOf, readParents } from "./gitOutput.ts"
import { atTop, attempt, type GitResult, noAnswerOfGits, text } from "./runGit.ts"

export interface ChangedMerge {
  /** Full hash. */
  readonly commit: string
  /** Files that differ from git's own merge: conflicts that somebody resolved, and what was left out or put in. */
  readonly paths: ReadonlyArray<string>
}

export interface Merges {
  readonly changed: ReadonlyArray<ChangedMerge>
  /** Full hashes of those that git cannot make again: of more than two parents, or with a git before 2.35. */
  readonly unknown: ReadonlyArray<string>
  /** Older ones, which were not looked at. */
  readonly more: number
}

/** Newest first. Each takes git as long as to merge. */
const mostMerges = 50

/** No driver of the user's runs, whatever the tree says how to merge. */
const builtIn = "* merge\n* !diff"

/** The output of `git log --name-only -z --format=/%H`: no path begins with a slash. Pure. */
export const readChangedMerges = (listed: string): ReadonlyArray<ChangedMerge> => {
  const found: Array<{ commit: string; paths: Array<string> }> = []
  for (const field of listed.split("\0")) {
    const one = field.replace(/^\n/, "")
    if (one.startsWith("/")) found.push({ commit: one.slice(1), paths: [] })
    else if (one !== "") found.at(-1)?.paths.push(one)
  }
  return found.filter(({ paths }) => paths.length > 0)
}

/** Undefined: git does not know how. */
const remake = (directory: string, merges: ReadonlyArray<CommitParents>) => {
  const options = ["--no-walk=unsorted", "--stdin", "--remerge-diff", "--name-only", "-z", "--no-renames"]
  const shown = ["--ignore-submodules=none", "--format=/%H"]
  return shadowedAttributes(directory, builtIn, atTop()).pipe(
    Effect.mapError(noAnswerOfGits("log")),
    Effect.flatMap((shared) => {
      const input = `${merges.map(({ commit }) => commit).join("\n")}\n`
      return attempt(directory, ["log", ...options, ...shown], { input, ...shared })
    }),
    Effect.map(({ exitCode, stdout }) => (exitCode === 0 ? readChangedMerges(stdout) : undefined)),
    // Such as one that takes too long.
    Effect.catchIf(isOfTree, () => Effect.succeed(undefined)),
    Effect.scoped
  )
}

/** Of all merges that came with the work between two commits (full hashes), also those that it has merged. */
export const changedMerges = (directory: string, from: string, to: string): GitResult<Merges> =>
  Effect.gen(function* () {
    const args = ["rev-list", "--merges", "--topo-order", "--parents", "--end-of-options", `${from}..${to}`, "--"]
    const all = linesOf(yield* text(directory, args)).map(readParents)
    const merges = all.slice(0, mostMerges)
    const [two, others] = [
      merges.filter(({ parents }) => parents.length === 2),
      merges.filter(({ parents }) => parents.length !== 2)
    ]
    const changed = two.length === 0 ? [] : yield* remake(directory, two)
    const unknown = [...others, ...(changed === undefined ? two : [])].map(({ commit }) => commit)
    return { changed: changed ?? [], unknown, more: all.length - merges.length }
  })
