/** What a commit has. */
import { Effect } from "effect"
import { insist } from "./ownIndex.ts"
import type { GitOptions } from "./runGit.ts"

export interface CommittedEntry {
  readonly mode: string
  readonly type: string
  readonly hash: string
  readonly path: string
}

/** The records of `git ls-tree -r -t -z`. */
const readEntries = (listed: string): ReadonlyArray<CommittedEntry> =>
  listed.split("\0").flatMap((record) => {
    const [, mode, type, hash, path] = /^(\d+) (\w+) ([0-9a-f]+)\t(.+)$/s.exec(record) ?? []
    return mode === undefined || type === undefined || hash === undefined || path === undefined
      ? []
      : [{ mode, type, hash, path }]
  })

/** A commit as far as it is needed to compare files with it. */
export interface Commit {
  readonly hash: string
  readonly entries: ReadonlyArray<CommittedEntry>
  readonly files: ReadonlySet<string>
  readonly folders: ReadonlySet<string>
}

export const readCommit = Effect.fnUntraced(function* (directory: string, hash: string, options: GitOptions) {
  const listed = yield* insist(directory, ["ls-tree", "-r", "-t", "-z", "--full-tree", hash], options)
  const entries = readEntries(listed)
  const files = new Set(entries.flatMap(({ path, type }) => (type === "tree" ? [] : [path])))
  const folders = new Set([".", ...entries.flatMap(({ path, type }) => (type === "tree" ? [path] : []))])
  return { hash, entries, files, folders } satisfies Commit
})
