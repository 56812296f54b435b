/**
 * Folders of the home folder in which something is hidden. A mount on a file ends when a program outside replaces the file, as npm
 * and git do with keys, and one on a folder when somebody removes that; so what a command sees is an empty folder with all that is
 * not hidden. Reads only.
 */
import { readlink, stat } from "node:fs/promises"
import { dirname, join } from "node:path"
import { readForeignFolder } from "@reprise/process"
import { foldersAbove, isWithin } from "./mounts.ts"
import type { ListedFolder } from "./policy.ts"

/** Each takes time at the start of every command, the more the more there are; in a larger folder a mount lies on each key. */
const mostEntries = 100
const mostInAll = 200

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

/** The smallest ones, of which most can be had; those of homes first. Pure. */
const affordable = (lists: ReadonlyArray<ListedFolder>, homes: ReadonlyArray<string>): ReadonlyArray<ListedFolder> => {
  const costOf = ({ entries, path }: ListedFolder) => (homes.includes(path) ? -1 : entries.length)
  let left = mostInAll
  return lists
    .toSorted((a, b) => costOf(a) - costOf(b))
    .filter(({ entries }) => {
      left -= entries.length
      return left >= 0
    })
}

/** Those above a path, below a home: such a list lies on a folder that somebody may remove, too. */
const foldersOnTheWay = (path: string, homes: ReadonlyArray<string>): ReadonlyArray<string> =>
  foldersAbove(path).filter((above) => homes.some((home) => above !== home && isWithin(above, home)))

/** Whether it is there or not: one that is put there later is not seen either. */
export interface HiddenPlaces {
  /** Real. */
  readonly keys: ReadonlyArray<string>
  /** Who makes one anew leaves its folder where it is. */
  readonly sockets: ReadonlyArray<string>
}

/** `homes`: real. Of folders that do not exist there is no list. */
export const listedFolders = async (
  homes: ReadonlyArray<string>,
  { keys, sockets }: HiddenPlaces
): Promise<ReadonlyArray<ListedFolder>> => {
  const ofKeys = keys.flatMap((path) => foldersOnTheWay(path, homes))
  const ofSockets = sockets.map((path) => dirname(path)).filter((path) => homes.some((home) => isWithin(path, home)))
  const lists = await Promise.all([...new Set([...homes, ...ofKeys, ...ofSockets])].map(list))
  return affordable(lists.flat(), homes)
}
