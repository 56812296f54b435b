/** What a commit has. */
import { posix } from "node:path"
import { Effect } from "effect"
import { insistBytes } from "./ownIndex.ts"
import { asClearText, asText, type Bytes, isUnclear } from "./pathBytes.ts"
import type { GitOptions } from "./runGit.ts"

export interface CommittedEntry {
  readonly mode: string
  readonly type: string
  readonly hash: string
  /** As any output of git is read. */
  readonly path: string
  /** Where the path is not UTF-8. */
  readonly bytes?: Bytes
}

/** The records of `git ls-tree -r -t -z`. */
const readEntries = (listed: Bytes): ReadonlyArray<CommittedEntry> =>
  listed.split("\0").flatMap((record) => {
    const [, mode, type, hash, bytes] = /^(\d+) (\w+) ([0-9a-f]+)\t(.+)$/s.exec(record) ?? []
    if (mode === undefined || type === undefined || hash === undefined || bytes === undefined) return []
    const path = asText(bytes)
    return [{ mode, type, hash, path, ...(isUnclear(path) ? { bytes } : {}) }]
  })

/** A commit as far as it is needed to compare files with it. */
export interface Commit {
  readonly hash: string
  readonly entries: ReadonlyArray<CommittedEntry>
  /** As clear texts, no two of which are the same. */
  readonly files: ReadonlySet<string>
  readonly folders: ReadonlySet<string>
}

export const readCommit = Effect.fnUntraced(function* (directory: string, hash: string, options: GitOptions) {
  const listed = yield* insistBytes(directory, ["ls-tree", "-r", "-t", "-z", "--full-tree", hash], options)
  const entries = readEntries(listed.bytes)
  const clear = ({ bytes, path }: CommittedEntry) => (bytes === undefined ? path : asClearText(bytes))
  const files = new Set(entries.flatMap((entry) => (entry.type === "tree" ? [] : [clear(entry)])))
  const folders = new Set([".", ...entries.flatMap((entry) => (entry.type === "tree" ? [clear(entry)] : []))])
  // In a malformed folder object, a file's name may hold the path of a folder that has no entry.
  for (const file of files) {
    for (let at = posix.dirname(file); !folders.has(at); at = posix.dirname(at)) folders.add(at)
  }
  return { hash, entries, files, folders } satisfies Commit
})
