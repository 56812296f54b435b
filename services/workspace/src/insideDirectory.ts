/**
 * Opens files under a root so that nothing outside it is ever touched, even while someone swaps directories for
 * symbolic links: each directory on the way is opened, asked for its real path, and then used through its open
 * descriptor, which a rename cannot redirect. Links that stay inside are followed.
 */
import { constants } from "node:fs"
import { type FileHandle, lstat, mkdir, open, realpath, rename, rm } from "node:fs/promises"
import { isAbsolute, join, relative, resolve, sep } from "node:path"
import { OutsideWorkspace } from "./faults.ts"

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_TRUNC, O_WRONLY } = constants

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

const absent = (error: unknown) => hasCode(error, "ENOENT", "ENOTDIR")

/** A file has a name of its own: the root is none. */
const requireName = (name: string, path: string) => {
  if (name === ".") throw new OutsideWorkspace({ path })
}

/** The text of a file; undefined when there is none, or a directory. Links are followed as long as they stay inside. */
export const readInside = async (root: string, path: string): Promise<string | undefined> => {
  try {
    return await withParent(root, path, false, async (directory, name, realRoot) => {
      const file = await open(join(directory.path, name), O_RDONLY)
      try {
        if (!isWithin(realRoot, await realPathOf(file, join(directory.path, name))))
          throw new OutsideWorkspace({ path })
        return await file.readFile("utf8")
      } finally {
        await file.close()
      }
    })
  } catch (error) {
    if (absent(error) || hasCode(error, "EISDIR")) return undefined
    throw error
  }
}

/** Whether something of this name is there, be it a link that leads nowhere. */
export const existsInside = async (root: string, path: string): Promise<boolean> => {
  try {
    return await withParent(root, path, false, async (directory, name) => {
      await lstat(join(directory.path, name))
      return true
    })
  } catch (error) {
    if (absent(error)) return false
    throw error
  }
}

/** Replaces a file at once: readers see the old text or the new one. On disk when it returns. */
export const replaceInside = (root: string, path: string, text: string): Promise<void> =>
  withParent(root, path, true, async (directory, name) => {
    requireName(name, path)
    const temporary = join(directory.path, `${name}.tmp`)
    await rm(temporary, { force: true })
    const file = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o644)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, join(directory.path, name)).catch(async (error) => {
      await rm(temporary, { force: true })
      throw error
    })
    await directory.handle.sync()
  })

/** An empty file to write into; one of this name is emptied, a link of this name is refused. */
export const createInside = (root: string, path: string): Promise<FileHandle> =>
  withParent(root, path, true, (directory, name) => {
    requireName(name, path)
    return open(join(directory.path, name), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o644)
  })
