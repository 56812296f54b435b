/**
 * Disks that take any case of letters for the same name while the kernel does not, such as WSL's `/mnt/c`, shares, and folders that a
 * virtual machine passes on: a mount on `.git` is then none on `.GIT`, which is the same folder. Reads only.
 */
import { lstat } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { readForeignFolder } from "@reprise/process"
import { foldersAbove } from "./mounts.ts"

/** What is looked at. */
export interface Names {
  readonly isThere: (path: string) => Promise<boolean>
  /** The names in a folder. Undefined: it cannot be listed. */
  readonly listed: (folder: string) => Promise<ReadonlyArray<string> | undefined>
}

const mostEntries = 1_000_000

const onDisk: Names = {
  isThere: (path) =>
    lstat(path).then(
      () => true,
      () => false
    ),
  listed: (folder) =>
    readForeignFolder(folder, { mostEntries }).then(
      (entries) => entries?.map(({ name }) => name),
      () => undefined
    )
}

const inOtherCase = (name: string): string => {
  const upper = name.toUpperCase()
  return upper === name ? name.toLowerCase() : upper
}

/** Found by another name than the folder lists: a number of a file tells less, since links share it and some disks make it up. */
const isFolded = async (path: string, { isThere, listed }: Names): Promise<boolean> => {
  const other = join(dirname(path), inOtherCase(basename(path)))
  if (other === path || !(await isThere(other))) return false
  // A command may have made both names, and a folder of theirs that nobody can list.
  const names = await listed(dirname(path))
  return names !== undefined && !names.includes(basename(other)) && (await isThere(other))
}

/** The first folder on the way to one of the paths that takes names in any case. Undefined: none. */
export const foldingFolder = async (paths: ReadonlyArray<string>, names = onDisk): Promise<string | undefined> => {
  const all = [...new Set(paths.flatMap((path) => [...foldersAbove(path), path]))].sort()
  const folded = await Promise.all(all.map((path) => isFolded(path, names)))
  const at = all.find((_, index) => folded[index])
  return at === undefined ? undefined : dirname(at)
}

/** For people. */
export const whyFoldingIsRefused = (folder: string): string =>
  `${folder} is on a disk that takes any case of letters for the same name: what the sandbox protects as .git could be written as .GIT. ` +
  "Clone the repository to a case-sensitive disk (on WSL below your Linux home folder, not below /mnt), or run in a container that you can afford to lose."
