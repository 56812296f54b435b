/**
 * What is put aside outside of the programs that run commands: what a command made that may not be made, or may have changed, if
 * it was killed before its program looked.
 */
import { lstat, readdir, rm } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { hasCode, readForeignText } from "@reprise/process"
import { exists } from "./found.ts"
import { heldIn, putBack, putBackName } from "./heldFiles.ts"
import { putAside } from "./putAside.ts"

/** Begins the name of a file with the paths that did not exist when a command began; the number of its process follows. */
export const begunPrefix = "begun-"

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

/** Gives the paths of files that were put back. */
const endOne = async (record: string, refused: string, whose: "killed" | "all"): Promise<ReadonlyArray<string>> => {
  const running = isRunning(Number(basename(record).slice(begunPrefix.length)))
  if (running && whose === "killed") return []
  const text = await readForeignText(record, { largestBytes: 16 * 1024 * 1024, follow: false }).catch(() => undefined)
  const paths = (text ?? "").split("\n").filter((path) => path.startsWith("/"))
  for (const path of paths) {
    // A folder above it may be a link by now, which leads to somebody's own files.
    const above = await linkAbove(path)
    if (above !== undefined) await putAside(above, refused)
    else if (await exists(path)) await putAside(path, refused)
  }
  const back: Array<string> = []
  for (const file of heldIn(record, text ?? "")) if (await putBack(file, refused)) back.push(file.path)
  if (!running) await rm(record, { force: true })
  return back
}

/** Those that programs of commands put back. Each is told once. */
const alreadyBack = async (record: string): Promise<ReadonlyArray<string>> => {
  const text = await readForeignText(record, { largestBytes: 1024 * 1024, follow: false }).catch(() => undefined)
  if (text !== undefined) await rm(record, { force: true })
  return (text ?? "").split("\n").filter((path) => path !== "")
}

/**
 * Puts aside what killed commands left, of every process that used this folder; `all`: also what commands made that are
 * about to be killed, or run beside. `sandboxFolder`: `.reprise/sandbox`, which this machine made: what stands in it is
 * believed. Gives the paths of files that somebody replaced meanwhile, of which the first ones are back.
 */
export const putAsideLeft = async (
  sandboxFolder: string,
  whose: "killed" | "all" = "killed"
): Promise<ReadonlyArray<string>> => {
  const hosts = join(sandboxFolder, "hosts")
  const back: Array<string> = []
  for (const host of await readdir(hosts).catch(() => [])) {
    const heard = join(hosts, host, "heard")
    back.push(...(await alreadyBack(join(heard, putBackName))))
    for (const name of await readdir(heard).catch(() => [])) {
      if (!name.startsWith(begunPrefix)) continue
      back.push(...(await endOne(join(heard, name), join(sandboxFolder, "refused"), whose)))
    }
  }
  return back
}
