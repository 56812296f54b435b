/**
 * Walks to the directory of a path so that nothing outside the root is ever reached, even while someone swaps
 * directories for symbolic links: each directory on the way is opened, asked for its real path, and then used through
 * its open descriptor, which a rename cannot redirect. Only a reader follows links, and only those that stay inside:
 * inside is what agents and git obey, so a link could lead a writer's text there (docs/design/workspace.md#workspace).
 */
import { constants } from "node:fs"
import { type FileHandle, lstat, mkdir, open, realpath } from "node:fs/promises"
import { isAbsolute, join, relative, resolve, sep } from "node:path"
import { hasCode } from "@reprise/process"
import { NotAFile, OutsideWorkspace } from "../faults.ts"

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants

export const isWithin = (root: string, path: string) =>
  path === root || path.startsWith(root === sep ? sep : root + sep)

export interface Directory {
  readonly handle: FileHandle
  /** A path to the directory that stays valid while the handle is open. */
  readonly path: string
}

/** Only Linux gives open files a path by descriptor; elsewhere the path that was opened has to do. */
const pathOfOpen = (handle: FileHandle): string | undefined =>
  process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : undefined

/** Where an open file really is. */
export const realPathOf = (handle: FileHandle, path: string): Promise<string> => realpath(pathOfOpen(handle) ?? path)

/** `flags`: beside those of a directory that is read. */
const openDirectory = async (path: string, flags = 0): Promise<Directory & { readonly real: string }> => {
  const handle = await open(path, O_RDONLY | O_DIRECTORY | flags)
  try {
    const real = await realPathOf(handle, path)
    return { handle, path: pathOfOpen(handle) ?? real, real }
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** Whether names lead from the root into a folder of git's, or into Reprise's own, whatever the disk does with capitals. */
const isGuarded = (names: ReadonlyArray<string>): boolean =>
  names.some((name) => name.toLowerCase() === ".git") || names[0]?.toLowerCase() === ".reprise"

/** Whether what is there may be read: it is in the root, and not git's or Reprise's own. Both paths are without links. */
export const isReadable = (realRoot: string, real: string): boolean =>
  isWithin(realRoot, real) && !isGuarded(relative(realRoot, real).split(sep))

/** The names that lead from the root to `path`. Refuses NUL, `.git`, and what leaves the root even without links. */
const segmentsOf = (root: string, realRoot: string, path: string): ReadonlyArray<string> => {
  if (path.includes("\0")) throw new OutsideWorkspace({ path })
  const absolute = resolve(realRoot, path)
  const from = isAbsolute(path) && !isWithin(realRoot, absolute) ? resolve(root) : realRoot
  if (!isWithin(from, absolute)) throw new OutsideWorkspace({ path })
  const segments = relative(from, absolute)
    .split(sep)
    .filter((segment) => segment !== "")
  if (segments.some((segment) => segment.toLowerCase() === ".git")) throw new OutsideWorkspace({ path })
  return segments
}

const createDirectory = (path: string): Promise<void> =>
  mkdir(path).catch((error) => (hasCode(error, "EEXIST") ? undefined : Promise.reject(error)))

/** `path`: as it is told. */
const inTheWay = async (found: string, path: string) => {
  const isLink = await lstat(found).then(
    (entry) => entry.isSymbolicLink(),
    () => false
  )
  return new NotAFile({ path, what: isLink ? "is a link, and Reprise writes through none" : "is not a directory" })
}

/** `read` follows links that stay inside, and reaches nothing in `.reprise`. `write` and `remove` follow none; `write` creates missing directories. */
export type Purpose = "read" | "write" | "remove"

/** Calls `use` with the directory that contains `path`, and the last name of the path (`.` for the root itself). */
export const withParent = async <A>(
  root: string,
  path: string,
  purpose: Purpose,
  use: (directory: Directory, name: string, realRoot: string) => Promise<A>
): Promise<A> => {
  const realRoot = await realpath(root)
  const segments = segmentsOf(root, realRoot, path)
  const flags = purpose === "read" ? 0 : O_NOFOLLOW
  const isReached = (real: string) => (purpose === "read" ? isReadable(realRoot, real) : isWithin(realRoot, real))
  if (!isReached(join(realRoot, ...segments))) throw new OutsideWorkspace({ path })
  let current = await openDirectory(realRoot)
  try {
    for (const segment of segments.slice(0, -1)) {
      const next = join(current.path, segment)
      const told = relative(realRoot, join(current.real, segment))
      if (purpose === "write") await createDirectory(next)
      const child = await openDirectory(next, flags).catch(async (error) => {
        throw purpose === "write" && hasCode(error, "ENOTDIR", "ELOOP", "ENOENT") ? await inTheWay(next, told) : error
      })
      await current.handle.close()
      current = child
      if (!isReached(child.real)) throw new OutsideWorkspace({ path })
    }
    return await use(current, segments.at(-1) ?? ".", realRoot)
  } finally {
    await current.handle.close()
  }
}
