/** Moves what nobody outside should obey or follow to the folder for refused files. */
import { randomUUID } from "node:crypto"
import { chmod, cp, lstat, mkdir, rename, rm } from "node:fs/promises"
import { basename, dirname, join, sep } from "node:path"
import { hasCode } from "@reprise/process"

const mostCopiedBytes = 64 * 1024 * 1024

/** What is copied to another disk for its owner to look at: no pipe, which would end the copying, and nothing endless. */
const isCopied = async (path: string): Promise<boolean> => {
  const found = await lstat(path)
  return found.isDirectory() || found.isSymbolicLink() || (found.isFile() && found.size <= mostCopiedBytes)
}

/** A path that is no text is bytes. */
type Path = string | Buffer

const folderOf = (path: Path): Path =>
  typeof path === "string" ? dirname(path) : path.subarray(0, path.lastIndexOf(sep))

/** A command may have taken the right to move something away from its owner. Of a link nothing is changed. */
const makeMovable = async (path: Path): Promise<void> => {
  for (const one of [folderOf(path), path]) {
    const found = await lstat(one)
    if (found.isDirectory()) await chmod(one, 0o700 | (found.mode & 0o777))
  }
}

/** Moves it to the folder for refused files. A link is not followed. */
export const putAside = async (path: Path, refused: string): Promise<void> => {
  await mkdir(refused, { recursive: true, mode: 0o700 })
  const to = join(refused, `${Date.now()}-${randomUUID().slice(0, 8)}-${basename(String(path))}`)
  const move = () => rename(path, to)
  await move()
    .catch(async (error) => {
      if (!hasCode(error, "EACCES", "EPERM")) throw error
      await makeMovable(path)
      await move()
    })
    .catch(async (error) => {
      if (hasCode(error, "ENOENT")) return
      if (!hasCode(error, "EXDEV")) throw error
      // What cannot be copied is lost, but obeyed by nobody.
      if (typeof path === "string") {
        await cp(path, to, { recursive: true, verbatimSymlinks: true, filter: isCopied }).catch(() => undefined)
      }
      await rm(path, { recursive: true, force: true })
    })
}
