/**
 * Folders of the home folder with single files that are hidden. A mount on a file ends when a program outside replaces the file,
 * as npm and git do with keys; so what a command sees is an empty folder with all that is not hidden. Reads only.
 */
import { readlink, stat } from "node:fs/promises"
import { dirname, join } from "node:path"
import { readForeignFolder } from "@reprise/process"
import { type Found, isWithin, type ListedFolder } from "./policy.ts"

/** Each takes time at the start of every command; in a larger folder the files themselves are hidden. */
const mostEntries = 100

const entryAt = async (folder: string, name: string, isLink: boolean): Promise<ListedFolder["entries"]> => {
  const path = join(folder, name)
  if (isLink) return [{ name, target: await readlink(path) }]
  // A disk that does not answer, for example: bubblewrap would fail there.
  await stat(path)
  return [{ name }]
}

const list = async (path: string): Promise<ReadonlyArray<ListedFolder>> => {
  const entries = await readForeignFolder(path, { mostEntries }).catch(() => undefined)
  if (entries === undefined) return []
  const found = entries.map((entry) => entryAt(path, entry.name, entry.isSymbolicLink()).catch(() => []))
  return [{ path, entries: (await Promise.all(found)).flat() }]
}

/** `homes`: real. A key that is put in one of them later is not seen either. */
export const listedFolders = async (
  homes: ReadonlyArray<string>,
  hidden: ReadonlyArray<Found>
): Promise<ReadonlyArray<ListedFolder>> => {
  const above = hidden.flatMap(({ kind, path }) => (kind === "file" ? [dirname(path)] : []))
  const folders = [...homes, ...above.filter((folder) => homes.some((home) => isWithin(folder, home)))]
  return (await Promise.all([...new Set(folders)].map(list))).flat()
}
