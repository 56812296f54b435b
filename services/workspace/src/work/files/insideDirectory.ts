/** Reads and writes files below a root by paths from elsewhere, without ever touching anything outside of it. */
import { constants, type Stats } from "node:fs"
import { type FileHandle, lstat, open, rmdir, stat } from "node:fs/promises"
import { join } from "node:path"
import { hasCode, kindOf, readForeignText, replaceFile } from "@reprise/process"
import { asNotAFile, NotAFile, OutsideWorkspace } from "../faults.ts"
import { isReadable, realPathOf, withParent } from "./withParent.ts"

const { O_CREAT, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants

const isAbsence = (error: unknown) => hasCode(error, "ENOENT", "ENOTDIR", "ENAMETOOLONG")

/** Only files up to this size are read as a whole. */
const largestBytes = 64 * 1024 * 1024

/** The root itself has no name below the root, so it cannot be a file. */
const requireName = (name: string, path: string) => {
  if (name === ".") throw new OutsideWorkspace({ path })
}

/** The text of a file; undefined when there is none. Links are followed as long as they stay inside, and lead neither to git's files nor to Reprise's own. */
export const readInside = async (root: string, path: string): Promise<string | undefined> => {
  try {
    return await withParent(root, path, "read", (directory, name, realRoot) => {
      const found = join(directory.path, name)
      const check = async (file: FileHandle) => {
        if (!isReadable(realRoot, await realPathOf(file, found))) throw new OutsideWorkspace({ path })
      }
      return readForeignText(found, { largestBytes, follow: true, check }).catch((error) =>
        Promise.reject(asNotAFile(error, path) ?? error)
      )
    })
  } catch (error) {
    if (isAbsence(error)) return undefined
    if (hasCode(error, "ELOOP")) throw new NotAFile({ path, what: "is a link to itself" })
    throw error
  }
}

/** `huge`: a file that is too large to be read. `dangling`: a link that leads nowhere. `other`: such as a pipe. */
export type Kind = "file" | "huge" | "directory" | "dangling" | "other"

const kindAt = (entry: Stats): Kind => {
  if (entry.isFile()) return entry.size > largestBytes ? "huge" : "file"
  return entry.isDirectory() ? "directory" : "other"
}

/** What is at a path, links followed wherever they lead; undefined: nothing. */
export const kindInside = async (root: string, path: string): Promise<Kind | undefined> => {
  try {
    return await withParent(root, path, "read", async (directory, name) => {
      const found = join(directory.path, name)
      await lstat(found)
      return await stat(found).then(kindAt, () => "dangling")
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

/**
 * Replaces a file atomically: readers see the old text or the new one. On disk when it returns. A link of its name is replaced, one in
 * the place of a folder is refused. `mode`: of the file.
 */
export const replaceInside = (root: string, path: string, text: string, mode = 0o644): Promise<void> =>
  withParent(root, path, "write", async (directory, name) => {
    requireName(name, path)
    const target = join(directory.path, name)
    const draft = `${target}.tmp`
    const replace = () => replaceFile(target, text, { mode, draft })
    await replace().catch(async (error) => {
      // Node's own code is for the draft, which it does not remove when it is a directory.
      if (hasCode(error, "ERR_FS_EISDIR")) await removeEmptyDirectory(draft, `${path}.tmp`)
      else if (hasCode(error, "EISDIR", "ENOTEMPTY", "EEXIST")) await removeEmptyDirectory(target, path)
      else throw error
      await replace()
    })
  })

/** An empty file to write into. An existing file is emptied, unless it has a second name; a link is refused, and so is what is not a file. */
export const createInside = (root: string, path: string): Promise<FileHandle> =>
  withParent(root, path, "write", async (directory, name) => {
    requireName(name, path)
    // Without waiting: opening a pipe that nobody reads would block forever.
    const flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
    const file = await open(join(directory.path, name), flags, 0o644).catch((error) =>
      Promise.reject(hasCode(error, "ENXIO", "EISDIR") ? new NotAFile({ path, what: "is not a regular file" }) : error)
    )
    try {
      const found = await file.stat()
      if (!found.isFile()) throw new NotAFile({ path, what: kindOf(found) })
      if (found.nlink > 1) throw new NotAFile({ path, what: "has a second name, which would be written, too" })
      await file.truncate()
      return file
    } catch (error) {
      await file.close()
      throw error
    }
  })
