/**
 * Walks to the directory of a path so that nothing outside the root is ever reached, even while someone swaps
 * directories for symbolic links: each directory on the way is opened, asked for its real path, and then used through
 * its open descriptor, which a rename cannot redirect. Links that stay inside are followed.
 */
import { constants } from "node:fs"
import { type FileHandle, mkdir, open, realpath } from "node:fs/promises"
import { isAbsolute, join, relative, resolve, sep } from "node:path"
import { hasCode } from "@reprise/process"
import { NotAFile, OutsideWorkspace } from "../faults.ts"

const { O_DIRECTORY, O_RDONLY } = constants

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

const openDirectory = async (path: string): Promise<Directory & { readonly real: string }> => {
  const handle = await open(path, O_RDONLY | O_DIRECTORY)
  try {
    const real = await realPathOf(handle, path)
    return { handle, path: pathOfOpen(handle) ?? real, real }
  } catch (error) {
    await handle.close()
    throw error
  }
}

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

const inTheWay = (path: string) => new NotAFile({ path, what: "is not a directory" })

/**
 * Calls `use` with the directory that contains `path`, and the last name of the path (`.` for the root itself).
 * `create`: missing directories are created.
 */
export const withParent = async <A>(
  root: string,
  path: string,
  create: boolean,
  use: (directory: Directory, name: string, realRoot: string) => Promise<A>
): Promise<A> => {
  const realRoot = await realpath(root)
  const segments = segmentsOf(root, realRoot, path)
  let current = await openDirectory(realRoot)
  try {
    for (const segment of segments.slice(0, -1)) {
      const next = join(current.path, segment)
      if (create) await createDirectory(next)
      const child = await openDirectory(next).catch((error) =>
        Promise.reject(
          create && hasCode(error, "ENOTDIR", "ELOOP", "ENOENT")
            ? inTheWay(relative(realRoot, join(current.real, segment)))
            : error
        )
      )
      await current.handle.close()
      current = child
      if (!isWithin(realRoot, child.real)) throw new OutsideWorkspace({ path })
    }
    return await use(current, segments.at(-1) ?? ".", realRoot)
  } finally {
    await current.handle.close()
  }
}
