/** The git commands that look at commits. `verify/verifyCommit.ts` says which rules a commit must meet. */
import { shadowedAttributes, textByContent } from "@reprise/process"
import type { CommitSubject } from "@reprise/protocol"
import { Effect } from "effect"
import { changedMerges, type Merges } from "./changedMerges.ts"
import {
  type CommitParents,
  type GitObject,
  linesOf,
  pathsOf,
  readObject,
  readParents,
  readSubject
} from "./gitOutput.ts"
import { type MovedSubmodule, movedSubmodules } from "./movedSubmodules.ts"
import { atTop, exitsWithZero, type GitResult, line, noAnswerOfGits, optional, text } from "./runGit.ts"

/** What git is asked about commits. */
export interface CommitCommands {
  /** The full hash of HEAD; undefined before the first commit. */
  readonly head: (directory: string) => GitResult<string | undefined>
  /** What each name stands for. Names must have passed `isCommitName`. */
  readonly describe: (directory: string, names: ReadonlyArray<string>) => GitResult<ReadonlyArray<GitObject>>
  readonly isAncestor: (directory: string, ancestor: string, descendant: string) => GitResult<boolean>
  /** The newest common ancestor of two commits; undefined: none. */
  readonly mergeBase: (directory: string, one: string, other: string) => GitResult<string | undefined>
  /** Those of `commits` that are not reachable from HEAD, together with their unreachable ancestors. */
  readonly unreachable: (directory: string, commits: ReadonlyArray<string>) => GitResult<ReadonlySet<string>>
  /** Those of `commits` (full hashes) that `base` does not contain, together with their ancestors since it. */
  readonly newSince: (directory: string, commits: ReadonlyArray<string>, base: string) => GitResult<ReadonlySet<string>>
  readonly hasDiff: (directory: string, from: string, to: string) => GitResult<boolean>
  /** Files that differ between two commits, relative to the root. */
  readonly changed: (directory: string, from: string, to: string) => GitResult<ReadonlyArray<string>>
  readonly diffStat: (directory: string, from: string, to: string) => GitResult<string>
  /** What a commit (a full hash) has at a path; undefined: nothing. `other`: a directory, a link or a submodule. */
  readonly entry: (directory: string, commit: string, path: string) => GitResult<"file" | "other" | undefined>
  /** Whether `commit` (a full hash) or a later commit up to HEAD deleted the file. */
  readonly deletedSince: (directory: string, commit: string, path: string) => GitResult<boolean>
  /** The first line of a commit's message. */
  readonly subject: (directory: string, commit: string) => GitResult<string>
  /** The same for many commits (full hashes), in their order, with one process. */
  readonly subjects: (directory: string, commits: ReadonlyArray<string>) => GitResult<ReadonlyArray<CommitSubject>>
  /** The commits that `to` has beside `from` (full hashes), newest first: the `most` newest. */
  readonly commitsSince: (
    directory: string,
    from: string,
    to: string,
    most: number
  ) => GitResult<ReadonlyArray<CommitParents>>
  /** Submodules that `to` has and `from` has not, or at another commit (full hashes). */
  readonly movedSubmodules: (directory: string, from: string, to: string) => GitResult<ReadonlyArray<MovedSubmodule>>
  /** Which merges among the commits that `to` has beside `from` (full hashes) are not what git makes of their parents. */
  readonly changedMerges: (directory: string, from: string, to: string) => GitResult<Merges>
  /** Whether the older part of the history was not fetched. */
  readonly isShallow: (directory: string) => GitResult<boolean>
}

const between = (from: string, to: string) => ["--end-of-options", from, to, "--"]

const stdin = (lines: ReadonlyArray<string>) => `${lines.join("\n")}\n`

/** A directory's name; with a slash at its end git would list what is in it. */
const withoutSlash = (path: string) => path.replace(/(?<=[^/])\/+$/, "")

/** A plain file has a mode that begins with 100. */
const kindOf = (entry: string): "file" | "other" | undefined => {
  if (entry === "") return undefined
  return entry.startsWith("100") ? "file" : "other"
}

/** Those of `commits` that another commit does not contain, together with their ancestors since it. */
const without = (directory: string, commits: ReadonlyArray<string>, other: string) =>
  commits.length === 0
    ? Effect.succeed(new Set<string>())
    : Effect.map(
        text(directory, ["rev-list", "--stdin"], stdin([...commits, `^${other}`])),
        (output) => new Set(linesOf(output))
      )

export const commitCommands: CommitCommands = {
  head: (directory) => optional(directory, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]),

  describe: (directory, names) =>
    names.length === 0
      ? Effect.succeed([])
      : Effect.map(text(directory, ["cat-file", "--batch-check=%(objectname) %(objecttype)"], stdin(names)), (output) =>
          linesOf(output).map(readObject)
        ),

  isAncestor: (directory, ancestor, descendant) =>
    exitsWithZero(directory, ["merge-base", "--is-ancestor", "--end-of-options", ancestor, descendant]),

  mergeBase: (directory, one, other) => optional(directory, ["merge-base", "--end-of-options", one, other]),

  unreachable: (directory, commits) => without(directory, commits, "HEAD"),

  newSince: without,

  hasDiff: (directory, from, to) =>
    Effect.map(
      exitsWithZero(directory, ["diff", "--quiet", "--ignore-submodules=none", ...between(from, to)]),
      (same) => !same
    ),

  changed: (directory, from, to) => {
    const options = ["--name-only", "-z", "--no-renames", "--no-relative", "--ignore-submodules=none"]
    return Effect.map(text(directory, ["diff", ...options, "--end-of-options", from, to, "--"]), pathsOf)
  },

  diffStat: (directory, from, to) => {
    const args = ["diff", "--stat=100", "--stat-count=50", "--no-color", ...between(from, to)]
    return shadowedAttributes(directory, textByContent, atTop()).pipe(
      Effect.mapError(noAnswerOfGits("diff")),
      Effect.flatMap((shared) => text(directory, args, undefined, shared)),
      Effect.scoped
    )
  },

  entry: (directory, commit, path) =>
    Effect.map(text(directory, ["ls-tree", "-z", "--end-of-options", commit, "--", withoutSlash(path)]), kindOf),

  deletedSince: (directory, commit, path) => {
    const deletions = ["--max-count=1", "--diff-filter=D", "--no-renames", "--format=%H"]
    const args = ["log", ...deletions, "HEAD", "--not", `${commit}^@`, "--", path]
    return Effect.map(text(directory, args), (output) => output.trim() !== "")
  },

  subject: (directory, commit) =>
    line(directory, ["log", "--max-count=1", "--format=%s", "--end-of-options", commit, "--"]),

  subjects: (directory, commits) => {
    const args = ["log", "--no-walk=unsorted", "--stdin", "--no-show-signature", "--format=%H %s"]
    return commits.length === 0
      ? Effect.succeed([])
      : Effect.map(text(directory, args, stdin(commits)), (output) => linesOf(output).map(readSubject))
  },

  commitsSince: (directory, from, to, most) => {
    const args = ["rev-list", "--topo-order", `--max-count=${most}`, "--parents", "--end-of-options", `${from}..${to}`]
    return Effect.map(text(directory, [...args, "--"]), (output) => linesOf(output).map(readParents))
  },

  movedSubmodules,
  changedMerges,

  isShallow: (directory) =>
    Effect.map(line(directory, ["rev-parse", "--is-shallow-repository"]), (answer) => answer === "true")
}
