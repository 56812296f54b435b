/** Files that one user alone may write, in which a program keeps what it believes. */
import { randomUUID } from "node:crypto"
import { type FileHandle, link, mkdir, open, rm } from "node:fs/promises"
import { dirname } from "node:path"
import { hasCode } from "./files.ts"
import { readForeignText } from "./foreignFile.ts"

/** `ENOTPRIVATE`: the file belongs to another user, or others may write it. */
class NotPrivate extends Error {
  readonly code = "ENOTPRIVATE"
}

const requirePrivate = (path: string) => async (file: FileHandle) => {
  const { mode, uid } = await file.stat()
  if (process.getuid !== undefined && uid !== process.getuid()) throw new NotPrivate(`${path} belongs to another user`)
  if ((mode & 0o022) !== 0) throw new NotPrivate(`${path} can be written by other users`)
}

/**
 * The text of a regular file of this user's that nobody else may write; undefined when there is none. Rejected like
 * `readForeignFile`, or with the code `ENOTPRIVATE`. A link of the file's name is refused (`ELOOP`), not followed.
 */
export const readPrivateFile = (path: string, largestBytes: number): Promise<string | undefined> =>
  readForeignText(path, { largestBytes, follow: false, check: requirePrivate(path) })

/**
 * Creates a file for its owner alone, with the folders above it, whole or not at all. Gives false, and changes nothing,
 * when it exists: of two processes that create it at the same time one wins.
 */
export const createPrivateFile = async (path: string, text: string): Promise<boolean> => {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${randomUUID()}.tmp`
  try {
    const file = await open(draft, "wx", 0o600)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await link(draft, path)
    return true
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false
    throw error
  } finally {
    await rm(draft, { force: true })
  }
}
