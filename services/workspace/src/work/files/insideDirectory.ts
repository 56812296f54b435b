/** Reads and writes files below a root by paths from elsewhere, without ever touching anything outside of it. */
import { constants } from "node:fs"
import { type FileHandle, lstat, open, rename, rm, rmdir, stat } from "node:fs/promises"
import { join } from "node:path"
import { NotAFile, OutsideWorkspace } from "../faults.ts"
import { hasCode, isWithin, realPathOf, withParent } from "./withParent.ts"

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_TRUNC, O_WRONLY } = constants

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

/** An empty directory at the target is removed; one with something in it is somebody's, and stays. */
const renameOver = async (from: string, to: string, path: string): Promise<void> => {
  try {
    await rename(from, to)
  } catch (error) {
    if (!hasCode(error, "EISDIR", "ENOTEMPTY", "EEXIST")) throw error
    await rmdir(to).catch(async (refused) => {
      await rm(from, { force: true })
      throw hasCode(refused, "ENOTEMPTY", "EEXIST") ? new NotAFile({ path, what: "is a directory" }) : refused
    })
    await rename(from, to)
  }
}

const writeNew = async (path: string, text: string): Promise<void> => {
  await rm(path, { force: true })
  const file = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o644)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Replaces a file atomically: readers see the old text or the new one. On disk when it returns. */
export const replaceInside = (root: string, path: string, text: string): Promise<void> =>
  withParent(root, path, true, async (directory, name) => {
    requireName(name, path)
    const temporary = join(directory.path, `${name}.tmp`)
    await writeNew(temporary, text)
    await renameOver(temporary, join(directory.path, name), path)
    await directory.handle.sync()
  })

/** An empty file to write into. An existing file is emptied; a link is refused. */
export const createInside = (root: string, path: string): Promise<FileHandle> =>
  withParent(root, path, true, (directory, name) => {
    requireName(name, path)
    return open(join(directory.path, name), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o644)
  })
