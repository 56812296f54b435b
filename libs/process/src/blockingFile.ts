/**
 * Why git does not answer. It opens some files by their names alone, without asking what they are: on a pipe that nobody
 * writes to it waits forever (seen with git 2.39). Looked for only when git is late, so that this costs nothing else.
 */
import type { Dirent, Stats } from "node:fs"
import { stat } from "node:fs/promises"
import { Effect } from "effect"
import { entriesForGit, gitFoldersOf, topOf } from "./entriesForGit.ts"
import { ForeignFileRefused, kindOf } from "./foreignFile.ts"
import { namedByConfiguration } from "./namedByConfiguration.ts"

/** What git reads in any folder of a working tree. In its own folder it may read everything. */
const readInTrees: ReadonlySet<string> = new Set([".gitignore", ".gitattributes", ".gitmodules", ".mailmap"])

/** Newer versions of git read no larger one. */
const largestBytes = 100 * 1024 * 1024

/** Undefined: git gets to its end, or fails at once, as with a socket. */
const refusalOf = (path: string, found: Stats): ForeignFileRefused | undefined => {
  if (found.isFile()) {
    return found.size > largestBytes ? new ForeignFileRefused(path, "EFBIG", "has more than 100 MB") : undefined
  }
  const blocks = found.isFIFO() || found.isCharacterDevice() || found.isBlockDevice()
  return blocks ? new ForeignFileRefused(path, "ENOTAFILE", kindOf(found)) : undefined
}

const refusalAt = async (path: string) => {
  const found = await stat(path).catch(() => undefined)
  return found === undefined ? undefined : refusalOf(path, found)
}

const mayBlock = (entry: Dirent, isGits: boolean): boolean =>
  isGits ? !entry.isFile() && !entry.isSocket() : readInTrees.has(entry.name)

/**
 * git reads what its configuration includes, wherever that is. Of all that a value may name only a pipe is certain to block it:
 * others are named for good reasons, such as /dev/null.
 */
const blockingInclude = Effect.fnUntraced(function* (directory: string) {
  const top = yield* Effect.promise(() => topOf(directory))
  if (top === undefined) return undefined
  const folders = yield* Effect.promise(() => gitFoldersOf(top))
  for (const path of yield* namedByConfiguration(top, folders)) {
    const found = yield* Effect.promise(() => stat(path).catch(() => undefined))
    if (found?.isFIFO() === true) return new ForeignFileRefused(path, "ENOTAFILE", kindOf(found))
  }
  return undefined
})

const blockingEntry = async (directory: string, signal: AbortSignal): Promise<ForeignFileRefused | undefined> => {
  for await (const { entry, isGits, path } of entriesForGit(directory, signal)) {
    const refused = mayBlock(entry, isGits) ? await refusalAt(path) : undefined
    if (refused !== undefined) return refused
  }
  return undefined
}

/**
 * The first file on which git blocks in the working tree around a directory, the upper folders first, or outside of it, where its
 * configuration names one; undefined: none was found among 200 000 entries, or within five seconds for each of both.
 */
export const findBlockingFile = Effect.fnUntraced(function* (directory: string) {
  const included = yield* blockingInclude(directory).pipe(
    Effect.timeoutOrElse({ duration: "5 seconds", orElse: () => Effect.undefined })
  )
  return included ?? (yield* Effect.promise((signal) => blockingEntry(directory, signal)))
})
