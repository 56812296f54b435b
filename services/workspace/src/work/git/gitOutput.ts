/** Reads what git prints. */
import type { CommitSubject } from "@reprise/protocol"

/** What a name stands for. */
export type GitObject =
  | { readonly _tag: "Found"; readonly hash: string; readonly type: string }
  | { readonly _tag: "Missing" }
  /** A short hash that several objects share. */
  | { readonly _tag: "Ambiguous" }

export interface Worktree {
  /** Absolute. */
  readonly directory: string
  /** Absent when HEAD is detached. */
  readonly branch?: string
}

/** Full hashes. */
export interface CommitParents {
  readonly commit: string
  readonly parents: ReadonlyArray<string>
}

export const linesOf = (text: string): ReadonlyArray<string> => text.split("\n").filter((line) => line !== "")

/** Paths separated by NUL, as `-z` prints them. */
export const pathsOf = (text: string): ReadonlyArray<string> => text.split("\0").filter((path) => path !== "")

/** A line of `git cat-file --batch-check=%(objectname) %(objecttype)`. */
export const readObject = (line: string): GitObject => {
  if (line.endsWith(" ambiguous")) return { _tag: "Ambiguous" }
  const [hash, type] = line.split(" ")
  return hash === undefined || type === undefined || type === "missing"
    ? { _tag: "Missing" }
    : { _tag: "Found", hash, type }
}

/** A line of `git rev-list --parents`. */
export const readParents = (line: string): CommitParents => {
  const [commit = "", ...parents] = line.split(" ")
  return { commit, parents }
}

/** A message without an empty line is all subject. */
const longestSubject = 500

/** A line of `git log --format=%H %s`; of a subject that nobody would read to its end, the beginning. */
export const readSubject = (line: string): CommitSubject => {
  const subject = line.slice(line.indexOf(" ") + 1)
  return {
    commit: line.slice(0, line.indexOf(" ")),
    subject: subject.length <= longestSubject ? subject : `${subject.slice(0, longestSubject)}…`
  }
}

/** A record of `git worktree list --porcelain -z`. */
const readWorktree = (record: string): ReadonlyArray<Worktree> => {
  const field = (name: string) =>
    record
      .split("\0")
      .find((line) => line.startsWith(`${name} `))
      ?.slice(name.length + 1)
  const directory = field("worktree")
  const branch = field("branch")?.replace(/^refs\/heads\//, "")
  return directory === undefined ? [] : [{ directory, ...(branch === undefined ? {} : { branch }) }]
}

export const readWorktrees = (porcelain: string): ReadonlyArray<Worktree> =>
  porcelain.split("\0\0").flatMap(readWorktree)
