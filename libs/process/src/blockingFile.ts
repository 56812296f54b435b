/**
 * Why git does not answer. It opens some files by their names alone, without asking what they are: on a pipe that nobody
 * writes to it waits for ever (seen with git 2.39). Looked for only when git is late, so that this costs nothing else.
 */
import type { Dirent, Stats } from "node:fs"
import { lstat, stat } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { ForeignFileRefused, kindOf, readForeignFolder, readForeignText } from "./foreignFile.ts"

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

const statOf = (path: string) => stat(path).catch(() => undefined)

/** The nearest folder, at or above this one, that has a `.git`; undefined: none has. */
const topOf = async (directory: string): Promise<string | undefined> => {
  const parent = dirname(directory)
  const isTop = await lstat(join(directory, ".git")).then(
    () => true,
    () => false
  )
  if (isTop) return directory
  return parent === directory ? undefined : topOf(parent)
}

/** The git folders that a working tree points to, where its `.git` is a file. */
const pointedTo = async (top: string): Promise<ReadonlyArray<string>> => {
  const line = (path: string) =>
    readForeignText(path, { largestBytes: 64 * 1024, follow: true }).then(
      (text) => text?.split("\n", 1)[0]?.trim(),
      () => undefined
    )
  const named = (await line(join(top, ".git")))?.replace(/^gitdir: /, "")
  if (named === undefined) return []
  const own = resolve(top, named)
  const shared = await line(join(own, "commondir"))
  return shared === undefined ? [own] : [own, resolve(own, shared)]
}

interface Folder {
  readonly path: string
  readonly isGits: boolean
}

/** Seldom on git's way, and often large. */
const looksLater: ReadonlySet<string> = new Set(["node_modules", "objects"])

const mayBlock = (entry: Dirent, { isGits }: Folder): boolean =>
  isGits ? !entry.isFile() && !entry.isSocket() : readInTrees.has(entry.name)

const mostEntries = 200_000
const timeoutMs = 5_000

/**
 * The first file on which git blocks in the working tree around a directory, the upper folders first; undefined: none was
 * found among 200 000 entries, or within five seconds.
 */
export const findBlockingFile = async (
  directory: string,
  signal?: AbortSignal
): Promise<ForeignFileRefused | undefined> => {
  const endsAt = Date.now() + timeoutMs
  const top = await topOf(directory)
  if (top === undefined) return undefined
  const gits = (await pointedTo(top)).map((path) => ({ path, isGits: true }))
  const soon: Array<Folder> = [{ path: top, isGits: false }, ...gits]
  const later: Array<Folder> = []
  let left = mostEntries
  for (let next = soon.shift(); next !== undefined; next = soon.shift() ?? later.shift()) {
    const folder = next
    const remainingMs = endsAt - Date.now()
    if (remainingMs <= 0 || signal?.aborted === true) return undefined
    const limits = { mostEntries: left, timeoutMs: remainingMs }
    const entries = (await readForeignFolder(folder.path, limits).catch(() => undefined)) ?? []
    left -= entries.length
    for (const entry of entries) {
      const path = join(folder.path, entry.name)
      if (entry.isDirectory()) {
        if (entry.name === ".reprise") continue
        const isGits = folder.isGits || entry.name === ".git"
        const queue = looksLater.has(entry.name) ? later : soon
        queue.push({ path, isGits })
      } else if (mayBlock(entry, folder)) {
        const found = await statOf(path)
        const refused = found === undefined ? undefined : refusalOf(path, found)
        if (refused !== undefined) return refused
      }
    }
  }
  return undefined
}
