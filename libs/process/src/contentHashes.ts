/** What git would call the content of files, as it lies on the disk: no filter, end of line or encoding counts. */
import { resolve } from "node:path"
import { Effect } from "effect"
import { hashOfBlob } from "./blobHash.ts"
import type { CommittedEntry } from "./committedEntries.ts"
import { placeOf } from "./folderEntries.ts"
import { readForeignFile } from "./foreignFile.ts"
import { insist } from "./ownIndex.ts"
import { asBytes, isUnclear } from "./pathBytes.ts"
import type { GitOptions } from "./runGit.ts"

/** Paths that cannot be asked about in lines. */
const isOdd = (path: string) => path.includes("\n") || isUnclear(path)

/** Larger ones with odd names cannot be read. */
const largestBytes = 100 * 1024 * 1024

/** The path of an entry on the disk: a text stands for several where a name is not UTF-8. */
export const bytesOfPath = ({ bytes, path }: CommittedEntry) => bytes ?? asBytes(path)

/**
 * The hashes of files that lie below a folder (`top`, relative or absolute) at the paths of some entries, which are plain files
 * there. Undefined: it cannot be read. Fails where git cannot read one of those whose names are ordinary.
 */
export const contentHashes = Effect.fnUntraced(function* <A extends CommittedEntry>(
  directory: string,
  top: string,
  files: ReadonlyArray<A>,
  options: GitOptions
) {
  const found = new Map<A, string | undefined>()
  const plain = files.filter(({ path }) => !isOdd(path))
  if (plain.length > 0) {
    const output = yield* insist(directory, ["hash-object", "--no-filters", "--stdin-paths"], {
      ...options,
      // A line that begins with a quote git takes for another path, which is quoted.
      input: plain.map(({ path }) => `${top}/${path}\n`).join("")
    })
    const hashes = output.split("\n")
    for (const [at, file] of plain.entries()) found.set(file, hashes[at])
  }
  const folder = asBytes(resolve(directory, top))
  yield* Effect.forEach(
    files.filter(({ path }) => isOdd(path)),
    (file) =>
      Effect.promise(async () => {
        const place = placeOf(folder, bytesOfPath(file))
        const content = await readForeignFile(place, { largestBytes, follow: false }).catch(() => undefined)
        found.set(file, content && hashOfBlob(content, file.hash))
      }),
    { concurrency: 4, discard: true }
  )
  return found
})
