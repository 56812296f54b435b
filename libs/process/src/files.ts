/** Files that a reader, or a crash, never finds half written. */
import { randomUUID } from "node:crypto"
import { constants } from "node:fs"
import { type FileHandle, mkdir, open, readFile, rename, rm } from "node:fs/promises"
import { dirname } from "node:path"

/**
 * Whether an error of Node's has one of these codes.
 *
 * @example readdir(folder).catch((error) => (hasCode(error, "ENOENT") ? [] : Promise.reject(error)))
 */
export const hasCode = (error: unknown, ...codes: ReadonlyArray<string>): boolean =>
  error instanceof Error && "code" in error && codes.some((code) => code === error.code)

export interface ReplaceOptions {
  /** Permissions of the file, minus the umask. Default: its owner reads and writes, nobody else does. */
  readonly mode?: number
  /** Permissions of the folders that are missing above the file, minus the umask. Default: for the owner alone. */
  readonly folderMode?: number
  /**
   * Where the text is written before it takes the file's place: a path on the same file system. A fixed name leaves at
   * most one stray file after a crash, but two writers of the same file would collide. Default: a name used only once.
   */
  readonly draft?: string
}

/** Makes a rename last. Some file systems cannot sync a folder; they say so with these codes. */
const syncFolder = async (path: string): Promise<void> => {
  const folder = await open(path, "r")
  try {
    await folder.sync().catch((error) => (hasCode(error, "EINVAL", "ENOTSUP") ? undefined : Promise.reject(error)))
  } finally {
    await folder.close()
  }
}

/**
 * Replaces a file, or creates it with the folders above it. Readers see the old text or the new one, never a part, and
 * the new text survives a power cut once the promise is fulfilled. When it is rejected (with Node's own error) the old
 * file is untouched and no draft is left. A link of the file's name is replaced, not followed.
 *
 * @example await replaceFile(join(stateDirectory, "endpoint.json"), JSON.stringify(endpoint))
 */
export const replaceFile = async (path: string, text: string, options: ReplaceOptions = {}): Promise<void> => {
  const { draft = `${path}.${randomUUID()}.tmp`, folderMode = 0o700, mode = 0o600 } = options
  await mkdir(dirname(path), { recursive: true, mode: folderMode })
  if (options.draft !== undefined) await rm(draft, { force: true })
  const file = await open(draft, "wx", mode)
  try {
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
  await syncFolder(dirname(path))
}

/** The text of a file; undefined when there is no such file. Rejected, with Node's own error, when it cannot be read. */
export const readIfPresent = (path: string): Promise<string | undefined> =>
  readFile(path, "utf8").catch((error) => (hasCode(error, "ENOENT") ? undefined : Promise.reject(error)))

/** `ENOTAFILE`: a folder, a pipe or a device. `EFBIG`: larger than allowed. */
class NotReadable extends Error {
  readonly code: "ENOTAFILE" | "EFBIG"
  constructor(code: NotReadable["code"], message: string) {
    super(message)
    this.code = code
  }
}

/** The content of an open file, which must be a regular one. Rejected like `readRegularFile`. */
export const readOpenFile = async (file: FileHandle, path: string, largestBytes: number): Promise<Buffer> => {
  const found = await file.stat()
  if (!found.isFile()) throw new NotReadable("ENOTAFILE", `${path} is not a regular file`)
  if (found.size > largestBytes) throw new NotReadable("EFBIG", `${path} has ${found.size} bytes`)
  return file.readFile()
}

/**
 * The content of a regular file. Rejected with Node's own error, or with the code `ENOTAFILE` or `EFBIG`: a pipe would
 * block for ever, and a device never end.
 */
export const readRegularFile = async (path: string, largestBytes: number): Promise<Buffer> => {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    return await readOpenFile(file, path, largestBytes)
  } finally {
    await file.close()
  }
}
