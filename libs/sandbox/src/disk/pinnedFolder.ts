/**
 * Work in the folder of a path that stays the same folder, whatever commands put at its name meanwhile: one that is swapped with
 * a link between a look and a move would lead the move to somebody's own files.
 */
import { constants, type Stats } from "node:fs"
import { chmod, type FileHandle, lchmod, lstat, open, readlink, realpath } from "node:fs/promises"
import { dirname, sep } from "node:path"
import { hasCode } from "@reprise/process"

/** A path that is no text is bytes. */
export type Path = string | Buffer

/** Needs no right to list the folder. Not in Node's list; the same on all processors that Node supports. */
const pathOnly = process.platform === "linux" ? 0o10000000 : 0

const bytesOf = (path: Path): Buffer => (typeof path === "string" ? Buffer.from(path) : path)

const splitPath = (path: Path): { readonly folder: Path; readonly name: Path } => {
  if (typeof path === "string") return { folder: dirname(path), name: path.slice(path.lastIndexOf(sep) + 1) }
  const at = path.lastIndexOf(sep)
  return { folder: at === 0 ? Buffer.from(sep) : path.subarray(0, at), name: path.subarray(at + 1) }
}

const below = (folder: string, name: Path): Path =>
  typeof name === "string" ? `${folder}${sep}${name}` : Buffer.concat([Buffer.from(`${folder}${sep}`), name])

const elsewhere = (folder: Path) =>
  new Error(
    `The folder ${String(folder)} was replaced while Reprise worked in it, so nothing in it was touched. End what runs there, and look at it.`
  )

const pin = (folder: Path): Promise<FileHandle> =>
  open(folder, pathOnly | constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW).catch((error: unknown) => {
    throw hasCode(error, "ELOOP", "ENOTDIR") ? elsewhere(folder) : error
  })

/**
 * Gives a folder's owner all rights in it. Nothing else is changed, whatever a command puts in its place meanwhile: fails where a
 * link or a file stands there by now. `path`: as `inItsFolder` gives it.
 */
export const grantOwner = async (path: Path): Promise<void> => {
  const modeOf = (found: Stats) => 0o700 | (found.mode & 0o777)
  // The system of macOS can change a path that is not followed.
  if (pathOnly === 0) return lchmod(path, modeOf(await lstat(path)))
  const pinned = await pin(path)
  try {
    await chmod(`/proc/self/fd/${pinned.fd}`, modeOf(await pinned.stat()))
  } finally {
    await pinned.close()
  }
}

/** Where no such folder of open files is, as on macOS, a path is looked at directly before and after. */
const checked = async <A>(path: Path, folder: Path, use: (path: Path) => Promise<A>): Promise<A> => {
  const isReal = async () => bytesOf(folder).equals(await realpath(folder, { encoding: "buffer" }))
  if (!(await isReal())) throw elsewhere(folder)
  const result = await use(path)
  if (!(await isReal())) throw elsewhere(folder)
  return result
}

/**
 * `path`: without links in its folder. `use` is given a name for it, which is good until it ends. Fails with ENOENT where the
 * folder is gone, and where its path leads elsewhere by now. `openFiles`: for tests.
 */
export const inItsFolder = async <A>(
  path: Path,
  use: (path: Path) => Promise<A>,
  openFiles = "/proc/self/fd"
): Promise<A> => {
  const { folder, name } = splitPath(path)
  const pinned = await pin(folder)
  try {
    const at = `${openFiles}${sep}${pinned.fd}`
    const found = await readlink(at, { encoding: "buffer" }).catch(() => undefined)
    if (found === undefined) return await checked(path, folder, use)
    if (!found.equals(bytesOf(folder))) throw elsewhere(folder)
    return await use(below(at, name))
  } finally {
    await pinned.close()
  }
}
