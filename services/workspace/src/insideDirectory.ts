/**
 * Opens files under a root so that nothing outside it is ever touched, even while someone swaps directories for
 * symbolic links: each directory on the way is opened, asked for its real path, and then used through its open
 * descriptor, which a rename cannot redirect. Links that stay inside are followed.
 */
import { constants } from "node:fs"
import { type FileHandle, lstat, mkdir, open, realpath, rmdir, stat } from "node:fs/promises"
import { isAbsolute, join, relative, resolve, sep } from "node:path"
import { replaceFile } from "@reprise/process"
import { NotAFile, OutsideWorkspace } from "./faults.ts"

const { O_CREAT, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_TRUNC, O_WRONLY } = constants

const hasCode = (error: unknown, ...codes: ReadonlyArray<string>) =>
  error instanceof Error && "code" in error && codes.some((code) => code === error.code)

const isWithin = (root: string, path: string) => path === root || path.startsWith(root === sep ? sep : root + sep)

interface Directory {
  readonly handle: FileHandle
  /** A path to the directory that stays valid while the handle is open. */
  readonly path: string
}

/** Only Linux names open directories by descriptor; elsewhere the path itself has to do. */
const opened = async (path: string): Promise<Directory & { readonly real: string }> => {
  const handle = await open(path, O_RDONLY | O_DIRECTORY)
  const byDescriptor = `/proc/self/fd/${handle.fd}`
  const linux = process.platform === "linux"
  try {
    const real = await realpath(linux ? byDescriptor : path)
    return { handle, path: linux ? byDescriptor : real, real }
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** The names that lead from the root to `path`. Refuses what leaves the root by its words, NUL, and `.git`. */
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

/** Calls `use` with the directory that holds `path`, and the path's last name (`.` for the root itself). */
const withParent = async <A>(
  root: string,
  path: string,
  create: boolean,
  use: (directory: Directory, name: string, realRoot: string) => Promise<A>
): Promise<A> => {
  const realRoot = await realpath(root)
  const segments = segmentsOf(root, realRoot, path)
  let current: Directory = await opened(realRoot)
  try {
    for (const segment of segments.slice(0, -1)) {
      const next = join(current.path, segment)
      if (create) await mkdir(next).catch((error) => (hasCode(error, "EEXIST") ? undefined : Promise.reject(error)))
      const child = await opened(next)
      await current.handle.close()
      current = child
      if (!isWithin(realRoot, child.real)) throw new OutsideWorkspace({ path })
    }
    return await use(current, segments.at(-1) ?? ".", realRoot)
  } finally {
    await current.handle.close()
  }
}

/** Where an open file really is. */
const realPathOf = (file: FileHandle, path: string) =>
  realpath(process.platform === "linux" ? `/proc/self/fd/${file.fd}` : path)

const absent = (error: unknown) => hasCode(error, "ENOENT", "ENOTDIR", "ENAMETOOLONG")

/** What is read as a whole is no larger. */
const largestBytes = 64 * 1024 * 1024

/** A file has a name of its own: the root is none. */
const requireName = (name: string, path: string) => {
  if (name === ".") throw new OutsideWorkspace({ path })
}

/** The text of a file; undefined when there is none. Links are followed as long as they stay inside. */
export const readInside = async (root: string, path: string): Promise<string | undefined> => {
  try {
    return await withParent(root, path, false, async (directory, name, realRoot) => {
      // Without waiting: a pipe that nobody writes to would be opened for ever.
      const file = await open(join(directory.path, name), O_RDONLY | O_NONBLOCK)
      try {
        if (!isWithin(realRoot, await realPathOf(file, join(directory.path, name))))
          throw new OutsideWorkspace({ path })
        const found = await file.stat()
        if (!found.isFile()) throw new NotAFile({ path, what: found.isDirectory() ? "is a directory" : "is no file" })
        if (found.size > largestBytes) throw new NotAFile({ path, what: `is too large (${found.size} bytes)` })
        return await file.readFile("utf8")
      } finally {
        await file.close()
      }
    })
  } catch (error) {
    if (absent(error)) return undefined
    if (hasCode(error, "ELOOP")) throw new NotAFile({ path, what: "is a link to itself" })
    throw error
  }
}

/** `dangling`: a link that leads nowhere. */
export type Kind = "file" | "directory" | "dangling"

/** What lies at a path, links followed wherever they lead; undefined: nothing. */
export const kindInside = async (root: string, path: string): Promise<Kind | undefined> => {
  try {
    return await withParent(root, path, false, async (directory, name) => {
      const found = join(directory.path, name)
      await lstat(found)
      return await stat(found).then(
        (entry) => (entry.isDirectory() ? "directory" : "file"),
        () => "dangling"
      )
    })
  } catch (error) {
    if (absent(error) || hasCode(error, "ELOOP")) return undefined
    throw error
  }
}

/** Removes an empty directory that is in the way of a file; one with content belongs to somebody. */
const removeEmptyDirectory = (at: string, path: string): Promise<void> =>
  rmdir(at).catch((refused) =>
    Promise.reject(hasCode(refused, "ENOTEMPTY", "EEXIST") ? new NotAFile({ path, what: "is a directory" }) : refused)
  )

/** Replaces a file at once: readers see the old text or the new one. On disk when it returns. */
export const replaceInside = (root: string, path: string, text: string): Promise<void> =>
  withParent(root, path, true, async (directory, name) => {
    requireName(name, path)
    const at = join(directory.path, name)
    const replace = () => replaceFile(at, text, { mode: 0o644, draft: `${at}.tmp` })
    await replace().catch(async (error) => {
      if (!hasCode(error, "EISDIR", "ENOTEMPTY", "EEXIST")) throw error
      await removeEmptyDirectory(at, path)
      await replace()
    })
  })

/** An empty file to write into; one of this name is emptied, a link of this name is refused. */
export const createInside = (root: string, path: string): Promise<FileHandle> =>
  withParent(root, path, true, (directory, name) => {
    requireName(name, path)
    return open(join(directory.path, name), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o644)
  })
