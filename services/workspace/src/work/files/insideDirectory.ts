/** Reads and writes files below a root by paths from elsewhere, without ever touching anything outside of it. */
import { constants } from "node:fs"
import { type FileHandle, lstat, open, rmdir, stat } from "node:fs/promises"
import { join } from "node:path"
import { hasCode, replaceFile } from "@reprise/process"
import { NotAFile, OutsideWorkspace } from "../faults.ts"
import { isWithin, realPathOf, withParent } from "./withParent.ts"

const { O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_TRUNC, O_WRONLY } = constants

const isAbsence = (error: unknown) => hasCode(error, "ENOENT", "ENOTDIR", "ENAMETOOLONG")

/** Only files up to this size are read as a whole. */
const largestBytes = 64 * 1024 * 1024

/** The root itself has no name below the root, so it cannot be a file. */
const requireName = (name: string, path: string) => {
  if (name === ".") throw new OutsideWorkspace({ path })
}

const readOpened = async (file: FileHandle, path: string): Promise<string> => {
  const found = await file.stat()
  if (!found.isFile()) {
    throw new NotAFile({ path, what: found.isDirectory() ? "is a directory" : "is not a regular file" })
  }
  if (found.size > largestBytes) throw new NotAFile({ path, what: `is too large (${found.size} bytes)` })
  return file.readFile("utf8")
}

/** The text of a file; undefined when there is none. Links are followed as long as they stay inside. */
export const readInside = async (root: string, path: string): Promise<string | undefined> => {
  try {
    return await withParent(root, path, false, async (directory, name, realRoot) => {
      const found = join(directory.path, name)
      // Without waiting: opening a pipe that nobody writes to would block for ever.
      const file = await open(found, O_RDONLY | O_NONBLOCK)
      try {
        if (!isWithin(realRoot, await realPathOf(file, found))) throw new OutsideWorkspace({ path })
        return await readOpened(file, path)
      } finally {
        await file.close()
      }
    })
  } catch (error) {
    if (isAbsence(error)) return undefined
    if (hasCode(error, "ELOOP")) throw new NotAFile({ path, what: "is a link to itself" })
    throw error
  }
}

/** `dangling`: a link that leads nowhere. */
export type Kind = "file" | "directory" | "dangling"

/** What is at a path, links followed wherever they lead; undefined: nothing. */
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
    if (isAbsence(error) || hasCode(error, "ELOOP")) return undefined
    throw error
  }
}

/** Removes an empty directory in the place of a file; one with something in it is somebody's, and stays. */
const removeEmptyDirectory = (directory: string, path: string): Promise<void> =>
  rmdir(directory).catch((refused) =>
    Promise.reject(hasCode(refused, "ENOTEMPTY", "EEXIST") ? new NotAFile({ path, what: "is a directory" }) : refused)
  )

/** Replaces a file atomically: readers see the old text or the new one. On disk when it returns. */
export const replaceInside = (root: string, path: string, text: string): Promise<void> =>
  withParent(root, path, true, async (directory, name) => {
    requireName(name, path)
    const target = join(directory.path, name)
    const replace = () => replaceFile(target, text, { mode: 0o644, draft: `${target}.tmp` })
    await replace().catch(async (error) => {
      if (!hasCode(error, "EISDIR", "ENOTEMPTY", "EEXIST")) throw error
      await removeEmptyDirectory(target, path)
      await replace()
    })
  })

/** An empty file to write into. An existing file is emptied; a link is refused. */
export const createInside = (root: string, path: string): Promise<FileHandle> =>
  withParent(root, path, true, (directory, name) => {
    requireName(name, path)
    return open(join(directory.path, name), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o644)
  })
