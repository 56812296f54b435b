/** What git looks at in a working tree and in its own folders, for whoever asks why git does not answer. */
import type { Dirent } from "node:fs"
import { lstat } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { readForeignFolder, readForeignText } from "./foreignFile.ts"

/** The nearest folder, at or above this one, that has a `.git`; undefined: none has. */
export const topOf = async (directory: string): Promise<string | undefined> => {
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

/** The folder of git that a working tree uses, and the one that its repository's trees share. */
export const gitFoldersOf = async (top: string): Promise<ReadonlyArray<string>> => {
  const pointed = await pointedTo(top)
  return pointed.length > 0 ? pointed : [join(top, ".git")]
}

/** An entry that is not a folder. `isGits`: it lies in a folder of git's own. */
interface Seen {
  readonly path: string
  readonly entry: Dirent
  readonly isGits: boolean
}

interface Folder {
  readonly path: string
  readonly isGits: boolean
}

/** Seldom on git's way, and often large. */
const looksLater: ReadonlySet<string> = new Set(["node_modules", "objects"])

const mostEntries = 200_000
const timeoutMs = 5_000

/**
 * Every entry of the working tree around a directory and of its git folders, the upper folders first: as many as are found
 * among 200 000, within five seconds.
 */
export async function* entriesForGit(directory: string, signal?: AbortSignal): AsyncGenerator<Seen> {
  const endsAt = Date.now() + timeoutMs
  const top = await topOf(directory)
  if (top === undefined) return
  const gits = (await pointedTo(top)).map((path) => ({ path, isGits: true }))
  const soon: Array<Folder> = [{ path: top, isGits: false }, ...gits]
  const later: Array<Folder> = []
  let left = mostEntries
  for (let next = soon.shift(); next !== undefined; next = soon.shift() ?? later.shift()) {
    const folder = next
    const remainingMs = endsAt - Date.now()
    if (remainingMs <= 0 || signal?.aborted === true) return
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
      } else yield { path, entry, isGits: folder.isGits }
    }
  }
}
