/** Moves what nobody outside should obey or follow to the folder for refused files. */
import { randomUUID } from "node:crypto"
import { cp, lstat, mkdir, rename } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { hasCode, removeForeign } from "@reprise/process"
import { grantOwner, inItsFolder, type Path } from "./pinnedFolder.ts"

const mostCopiedBytes = 64 * 1024 * 1024

/** What is copied to another disk for its owner to look at: no pipe, which would end the copying, and nothing endless. */
const isCopied = async (path: string): Promise<boolean> => {
  const found = await lstat(path)
  return found.isDirectory() || found.isSymbolicLink() || (found.isFile() && found.size <= mostCopiedBytes)
}

const grant = async (path: Path): Promise<void> => {
  if ((await lstat(path)).isDirectory()) await grantOwner(path)
}

/** A command may have taken the right to move something away from its owner. Of a link nothing is changed. */
const makeMovable = async (path: Path): Promise<void> => {
  if (typeof path === "string") await inItsFolder(dirname(path), grant)
  await inItsFolder(path, grant)
}

/** To another disk. What cannot be copied is lost, but obeyed by nobody. */
const copyAside = async (path: Path, to: string): Promise<void> => {
  await inItsFolder(path, async (pinned) => {
    if (typeof pinned === "string") await cp(pinned, to, { recursive: true, verbatimSymlinks: true, filter: isCopied })
  }).catch(() => undefined)
  await inItsFolder(path, removeForeign)
}

/** With the time and a number before it, every disk takes a name so long. */
const longestName = 60

/**
 * Moves it to the folder for refused files, and gives its path there. A link is not followed, neither it nor one above it: fails where its folder is another
 * one by now. What is gone is passed over.
 */
export const putAside = async (path: Path, refused: string): Promise<string> => {
  await mkdir(refused, { recursive: true, mode: 0o700 })
  const to = join(refused, `${Date.now()}-${randomUUID().slice(0, 8)}-${basename(String(path)).slice(-longestName)}`)
  const move = () => inItsFolder(path, (pinned) => rename(pinned, to))
  await move()
    .catch(async (error) => {
      if (!hasCode(error, "EACCES", "EPERM")) throw error
      await makeMovable(path)
      await move()
    })
    .catch(async (error) => {
      if (hasCode(error, "ENOENT")) return
      if (!hasCode(error, "EXDEV")) throw error
      await copyAside(path, to)
    })
  return to
}
