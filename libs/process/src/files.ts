/** Files that a reader, or a crash, never finds half written. */
import { randomUUID } from "node:crypto"
import { constants } from "node:fs"
import { mkdir, open, rename, rm } from "node:fs/promises"
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
  const folder = await open(path, constants.O_RDONLY | constants.O_DIRECTORY)
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
export const replaceFile = async (path: string, text: string | Buffer, options: ReplaceOptions = {}): Promise<void> => {
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

const atOnce = 256

/** Asks about many things, a group of them at the same time; gives the answers in their order. */
export const inGroups = async <A, B>(all: ReadonlyArray<A>, run: (one: A) => Promise<B>): Promise<ReadonlyArray<B>> => {
  const found: Array<B> = []
  for (let at = 0; at < all.length; at += atOnce) {
    found.push(...(await Promise.all(all.slice(at, at + atOnce).map(run))))
  }
  return found
}
