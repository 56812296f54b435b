/**
 * What is put aside outside of the programs that run commands: what a command made that may not be made, if it was killed
 * before its program looked.
 */
import { randomUUID } from "node:crypto"
import { chmod, cp, lstat, mkdir, readdir, rename, rm } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { hasCode, readForeignText } from "@reprise/process"

/** Begins the name of a file with the paths that did not exist when a command began; the number of its process follows. */
export const begunPrefix = "begun-"

const mostCopiedBytes = 64 * 1024 * 1024

const exists = (path: string) =>
  lstat(path).then(
    () => true,
    () => false
  )

/** What is copied to another disk for its owner to look at: no pipe, which would end the copying, and nothing endless. */
const isCopied = async (path: string): Promise<boolean> => {
  const found = await lstat(path)
  return found.isDirectory() || found.isSymbolicLink() || (found.isFile() && found.size <= mostCopiedBytes)
}

/** A command may have taken the right to move something away from its owner. Of a link nothing is changed. */
const makeMovable = async (path: string): Promise<void> => {
  for (const one of [dirname(path), path]) {
    const found = await lstat(one)
    if (found.isDirectory()) await chmod(one, 0o700 | (found.mode & 0o777))
  }
}

/** Moves it to the folder for refused files. A link is not followed. */
export const putAside = async (path: string, refused: string): Promise<void> => {
  await mkdir(refused, { recursive: true, mode: 0o700 })
  const to = join(refused, `${Date.now()}-${randomUUID().slice(0, 8)}-${basename(path)}`)
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
      await cp(path, to, { recursive: true, verbatimSymlinks: true, filter: isCopied }).catch(() => undefined)
      await rm(path, { recursive: true, force: true })
    })
}

const isRunning = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return hasCode(error, "EPERM")
  }
}

/** The uppermost folder of a path that is a link. When the path was noted, none was but those that protect themselves. */
const linkAbove = async (path: string): Promise<string | undefined> => {
  const above = dirname(path)
  if (above === path) return undefined
  const upper = await linkAbove(above)
  if (upper !== undefined) return upper
  return (await lstat(above).catch(() => undefined))?.isSymbolicLink() === true ? above : undefined
}

const endOne = async (record: string, refused: string, whose: "killed" | "all"): Promise<void> => {
  const running = isRunning(Number(basename(record).slice(begunPrefix.length)))
  if (running && whose === "killed") return
  const text = await readForeignText(record, { largestBytes: 16 * 1024 * 1024, follow: false }).catch(() => undefined)
  const paths = (text ?? "").split("\n").filter((path) => path.startsWith("/"))
  for (const path of paths) {
    // A folder above it may be a link by now, which leads to somebody's own files.
    const above = await linkAbove(path)
    if (above !== undefined) await putAside(above, refused)
    else if (await exists(path)) await putAside(path, refused)
  }
  if (!running) await rm(record, { force: true })
}

/**
 * Puts aside what killed commands left, of every process that used this folder; `all`: also what commands made that are
 * about to be killed, or run beside. `sandboxFolder`: `.reprise/sandbox`, which this machine made: what stands in it is
 * believed.
 */
export const putAsideLeft = async (sandboxFolder: string, whose: "killed" | "all" = "killed"): Promise<void> => {
  const hosts = join(sandboxFolder, "hosts")
  for (const host of await readdir(hosts).catch(() => [])) {
    const heard = join(hosts, host, "heard")
    for (const name of await readdir(heard).catch(() => [])) {
      if (name.startsWith(begunPrefix)) await endOne(join(heard, name), join(sandboxFolder, "refused"), whose)
    }
  }
}
