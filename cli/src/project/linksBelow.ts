/** Symbolic links in a folder: through one, writing to the folder would write somewhere else. */
import { lstat } from "node:fs/promises"
import { join } from "node:path"
import { readForeignFolder } from "@reprise/process"

/** More are in no state of Reprise's. */
const mostEntries = 1_000_000

/**
 * The links at any depth below a folder, as absolute paths; none if the folder does not exist. The contents of folders
 * with a name in `except`, directly in it, are left out. Rejected when a folder cannot be read, or has too much in it.
 */
export const linksBelow = async (
  folder: string,
  except: ReadonlyArray<string> = []
): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = []
  const isFolder = await lstat(folder).then(
    (entry) => entry.isDirectory(),
    () => false
  )
  const waiting: Array<string> = isFolder ? [folder] : []
  let left = mostEntries
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const entries = (await readForeignFolder(next, { mostEntries: left })) ?? []
    left -= entries.length
    for (const entry of entries) {
      const path = join(next, entry.name)
      if (entry.isSymbolicLink()) found.push(path)
      else if (entry.isDirectory() && !(next === folder && except.includes(entry.name))) waiting.push(path)
    }
  }
  return found
}
