/** Files that differ between a commit and a working tree that only the user can have written. */
import { join } from "node:path"
import { Effect } from "effect"
import { hashOfBlob } from "./blobHash.ts"
import { readCommit } from "./committedEntries.ts"
import { readForeignFile } from "./foreignFile.ts"
import type { GitOptions } from "./runGit.ts"

const largestBytes = 256 * 1024 * 1024

const foldersAbove = (path: string): ReadonlyArray<string> =>
  path
    .split("/")
    .slice(0, -1)
    .map((_, depth, names) => names.slice(0, depth + 1).join("/"))

/**
 * Those of some paths (relative to the top, with `/`) at which a commit (whole hash) has anything else than the working tree has in
 * `directory`, its top. What the commit has not is not a difference. One behind a link of the commit's is.
 */
export const committedOtherwise = Effect.fn("committedOtherwise")(function* (
  directory: string,
  commit: string,
  paths: ReadonlyArray<string>,
  options: GitOptions = {}
) {
  if (paths.length === 0) return []
  const { entries } = yield* readCommit(directory, commit, options)
  const byPath = new Map(entries.map((entry) => [entry.path, entry]))
  const isOther = Effect.fnUntraced(function* (path: string) {
    if (foldersAbove(path).some((folder) => (byPath.get(folder)?.type ?? "tree") !== "tree")) return true
    const entry = byPath.get(path)
    if (entry === undefined) return false
    const isFile = entry.type === "blob" && entry.mode !== "120000"
    if (!isFile) return true
    const own = yield* Effect.promise(() =>
      readForeignFile(join(directory, path), { largestBytes, follow: true }).catch(() => undefined)
    )
    return own === undefined || hashOfBlob(own, entry.hash) !== entry.hash
  })
  return yield* Effect.filter(paths, isOther)
})
