/** What folders hold on the disk, whatever git lists of them. No link is followed. */
import type { Dirent } from "node:fs"
import { opendir } from "node:fs/promises"
import { hasCode } from "./files.ts"
import { asBuffer, type Bytes } from "./pathBytes.ts"

export const placeOf = (directory: Bytes, path: Bytes): Buffer => asBuffer(`${directory}/${path}`)
export const below = (folder: Bytes, name: Bytes): Bytes => (folder === "." ? name : `${folder}/${name}`)

export class TooMany extends Error {}

/** Counts what is read, and ends a search that has no end. */
export const limitedTo = (most: number) => {
  let left = most
  return () => {
    left -= 1
    if (left < 0) throw new TooMany()
  }
}

/** Undefined: it cannot be read, as where its path is too long. One that is gone is empty. */
export const entriesOf = async (directory: Bytes, folder: Bytes, count: () => void) => {
  const entries: Array<Dirent> = []
  try {
    // Leaving the loop closes the folder.
    for await (const entry of await opendir(placeOf(directory, folder), { encoding: "latin1", bufferSize: 512 })) {
      count()
      entries.push(entry)
    }
    return entries
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return []
    if (hasCode(error, "EACCES", "EPERM", "ENAMETOOLONG", "ELOOP")) return undefined
    throw error
  }
}

/** An entry of a folder. `path`: relative, as bytes. */
export interface FolderEntry {
  readonly path: Bytes
  readonly entry: Dirent
}

/**
 * Whatever is not a folder, at any depth below a folder. `isEntered`: whether a folder of a name (bytes) is looked into. Undefined:
 * there is more than `most` entries, or a folder that cannot be listed.
 */
export const entriesBelow = async (
  directory: Bytes,
  top: Bytes,
  most: number,
  isEntered: (name: Bytes) => boolean = () => true
): Promise<ReadonlyArray<FolderEntry> | undefined> => {
  const count = limitedTo(most)
  const found: Array<FolderEntry> = []
  const folders = [top]
  try {
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      const entries = await entriesOf(directory, folder, count)
      if (entries === undefined) return undefined
      for (const entry of entries) {
        const path = below(folder, entry.name)
        if (!entry.isDirectory()) found.push({ path, entry })
        else if (isEntered(entry.name)) folders.push(path)
      }
    }
  } catch (error) {
    if (error instanceof TooMany) return undefined
    throw error
  }
  return found
}
