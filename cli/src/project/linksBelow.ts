/** Symbolic links in a folder: through one, writing to the folder would write somewhere else. */
import { lstatSync, readdirSync } from "node:fs"
import { join } from "node:path"

/**
 * The links at any depth below a folder, as absolute paths; none if the folder does not exist. The contents of folders
 * with a name in `except`, directly in it, are left out. Throws when a folder cannot be read.
 */
export const linksBelow = (folder: string, except: ReadonlyArray<string> = []): ReadonlyArray<string> => {
  const found: Array<string> = []
  const waiting: Array<string> = lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === true ? [folder] : []
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const entry of readdirSync(next, { withFileTypes: true })) {
      const path = join(next, entry.name)
      if (entry.isSymbolicLink()) found.push(path)
      else if (entry.isDirectory() && !(next === folder && except.includes(entry.name))) waiting.push(path)
    }
  }
  return found
}
