/**
 * Removing what commands made, as they left it: paths longer than the system takes, folders that their owner may not list or
 * change, links in the place of anything. Nothing outside is touched, whatever a command puts at a name meanwhile: each
 * folder is opened without following a link, and used by its descriptor.
 */
import { randomUUID } from "node:crypto"
import { constants } from "node:fs"
import { chmod, type FileHandle, lchmod, lstat, open, readdir, realpath, rename, rmdir, unlink } from "node:fs/promises"
import { sep } from "node:path"
import { hasCode } from "./files.ts"

const isLinux = process.platform === "linux"
/** Needs no right to list the folder. Not in Node's list; the same on all processors that Node supports. */
const pathOnly = isLinux ? 0o10000000 : 0

/** Deeper folders are moved up, so that few are open at once and no path gets long. macOS has no paths by descriptors. */
const deepest = isLinux ? 32 : 2

interface Folder {
  readonly handle: FileHandle
  /** Good while the handle is open. */
  readonly path: string
}

const at = (folder: Folder, name: Buffer): Buffer => Buffer.concat([Buffer.from(`${folder.path}${sep}`), name])

const unlessGone = (error: unknown): void => {
  if (!hasCode(error, "ENOENT")) throw error
}

const flags = pathOnly | constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW

/** A command may have taken the rights away from its owner. */
const openWritable = async (path: Buffer): Promise<Folder> => {
  // Without paths by descriptors, a folder that may not be listed cannot be opened before.
  if (!isLinux) await lchmod(path, 0o700)
  const handle = await open(path, flags)
  try {
    if (!isLinux) return { handle, path: await realpath(path, "utf8") }
    const opened = `/proc/self/fd/${handle.fd}`
    await chmod(opened, 0o700)
    return { handle, path: opened }
  } catch (error) {
    await handle.close()
    throw error
  }
}

interface Removal {
  /** Takes folders that lie deep, and is emptied last. */
  readonly top: Folder
  /** What was moved there. */
  readonly moved: Array<Buffer>
  /** Why something could not be removed. */
  readonly errors: Array<unknown>
}

const moveUp = async (path: Buffer, { moved, top }: Removal): Promise<void> => {
  // A folder that may not be written cannot be moved into another one.
  const { handle } = await openWritable(path)
  await handle.close()
  const name = Buffer.from(randomUUID())
  await rename(path, at(top, name))
  moved.push(name)
}

const removeFolder = async (path: Buffer, removal: Removal, depth: number): Promise<void> => {
  if (depth > deepest) return moveUp(path, removal)
  const folder = await openWritable(path)
  try {
    await emptyFolder(folder, removal, depth)
  } finally {
    await folder.handle.close()
  }
  await rmdir(path).catch(unlessGone)
}

/** A command may change what an entry is after it was listed: then neither way of removing it does anything. */
const emptyFolder = async (folder: Folder, removal: Removal, depth: number): Promise<void> => {
  for (const entry of await readdir(folder.path, { encoding: "buffer", withFileTypes: true })) {
    const path = at(folder, entry.name)
    await (entry.isDirectory() ? removeFolder(path, removal, depth + 1) : unlink(path).catch(unlessGone)).catch(
      (error) => removal.errors.push(error)
    )
  }
}

const removeTree = async (path: Buffer): Promise<void> => {
  const top = await openWritable(path)
  const removal: Removal = { top, moved: [], errors: [] }
  try {
    await emptyFolder(top, removal, 1)
    for (let name = removal.moved.pop(); name !== undefined; name = removal.moved.pop()) {
      await removeFolder(at(top, name), removal, 1).catch((error) => removal.errors.push(error))
    }
  } finally {
    await top.handle.close()
  }
  if (removal.errors.length > 0) throw removal.errors[0]
  await rmdir(path).catch(unlessGone)
}

/**
 * Removes it with everything in it; a link is removed itself. What is not there is passed over. Whatever can be removed is; then
 * it fails with the first error, if any. Links above it are followed: its folder must be one that no command may replace, or
 * be given as `/proc/self/fd/N`.
 */
export const removeForeign = async (path: string | Buffer): Promise<void> => {
  const bytes = Buffer.from(path)
  const found = await lstat(bytes).catch((error: unknown) => {
    if (!hasCode(error, "ENOENT", "ENOTDIR")) throw error
  })
  if (found === undefined) return
  await (found.isDirectory() ? removeTree(bytes) : unlink(bytes).catch(unlessGone))
}
