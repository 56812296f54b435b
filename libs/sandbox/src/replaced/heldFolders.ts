/**
 * Protected folders whose mount would end if somebody outside removed them and made them anew, as git does with a folder that
 * another branch lacks: a command that goes on could write there from then on, and nobody can tell whose the new content is. A
 * folder can have no second name. So the record of a command says which one it was, and a copy keeps what was in it; whoever
 * finds another one after the command lets it stay if it holds the same, and else puts the copy in its place.
 */
import { createHash, randomUUID } from "node:crypto"
import { cp, lstat, mkdir, rename, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { hasCode, removeForeign } from "@reprise/process"
import { readRecord, recordsBeside } from "../command/records.ts"
import { entriesOf, isSame } from "../disk/folderContent.ts"
import { exists, linkAbove } from "../disk/pathsOnDisk.ts"
import { inItsFolder } from "../disk/pinnedFolder.ts"
import { putAside } from "../disk/putAside.ts"
import { isWithin } from "../policy/mounts.ts"
import type { Policy } from "../policy/policy.ts"
import { folderOfHeld } from "./heldFiles.ts"

export interface HeldFolders {
  readonly paths: ReadonlyArray<string>
  /** Those of which there is a copy. */
  readonly copied: ReadonlyArray<string>
  /** A file that is older than the copies. */
  readonly stamp: string
}

/**
 * Writes a line of the record for each path that follows. The number of a removed folder is given to another one, but not the time
 * of its birth. A fraction has a comma in some languages.
 */
export const whichFolders = "LC_ALL=C stat -c '@%d:%i:%.9W=%n' --"

/** As that writes it. */
const identityOf = async (path: string): Promise<string | undefined> => {
  const found = await lstat(path, { bigint: true }).catch(() => undefined)
  if (found === undefined) return undefined
  const { birthtimeNs, dev, ino } = found
  const [seconds, rest] = [birthtimeNs / 1_000_000_000n, birthtimeNs % 1_000_000_000n]
  return `${dev}:${ino}:${seconds}.${String(rest).padStart(9, "0")}`
}

const foldersIn = (record: string): ReadonlyArray<{ readonly identity: string; readonly path: string }> =>
  record.split("\n").flatMap((line) => {
    const [, identity, path] = /^@([^=]*)=(\/.*)$/.exec(line) ?? []
    return identity === undefined || path === undefined ? [] : [{ identity, path }]
  })

/** In a folder that is protected itself, nothing can be written. */
const outermost = (paths: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...new Set(paths)].filter((path) => !paths.some((other) => other !== path && isWithin(path, other)))

const digest = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 24)

/** `folder`: of what commands said. */
const copyOf = (folder: string, path: string) => join(folderOfHeld(folder), `${digest(path)}-folder`)

const copyTo = (from: string, to: string) =>
  cp(from, to, {
    recursive: true,
    preserveTimestamps: true,
    verbatimSymlinks: true,
    // A pipe would end it.
    filter: async (path) => {
      const found = await lstat(path)
      return found.isDirectory() || found.isFile() || found.isSymbolicLink()
    }
  })

/** `place` moves a copy of a folder, beside the one that is kept, to where it belongs. */
const copied = async (from: string, copy: string, place: (made: string) => Promise<void>): Promise<void> => {
  const made = `${copy}.${randomUUID()}`
  try {
    await copyTo(from, made)
    await place(made)
  } finally {
    await removeForeign(made)
  }
}

/** Unless the folder is another one by then. */
const copyNow = (path: string, identity: string, copy: string): Promise<void> =>
  copied(path, copy, async (made) => {
    if ((await identityOf(path)) !== identity) return
    await removeForeign(copy)
    // Somebody else may have put it there meanwhile.
    await rename(made, copy).catch((error) =>
      hasCode(error, "ENOTEMPTY", "EEXIST") ? undefined : Promise.reject(error)
    )
  })

/** Whether there is a copy of it, and whether that is what it holds now. */
const keep = async (path: string, folder: string, since: number, couldWrite: boolean) => {
  const copy = copyOf(folder, path)
  const identity = await identityOf(path)
  if (identity === undefined || couldWrite) return { isCopied: exists(copy), isCurrent: identity === undefined }
  try {
    const entries = await entriesOf(path)
    if (entries === undefined) throw new Error(`${path} is too large.`)
    if (!exists(copy) || entries.some(({ changedMs }) => changedMs > since)) await copyNow(path, identity, copy)
  } catch {
    // Nor of one that its owner may not read.
    await removeForeign(copy)
  }
  return { isCopied: exists(copy), isCurrent: true }
}

/**
 * Copies those folders that have changed since they were copied, for a command that begins. Not one that another command, which
 * goes on or was killed, may have written: what that one is compared with stays. `folder`: of what commands said.
 */
export const holdAgain = async (folder: string, paths: ReadonlyArray<string>): Promise<HeldFolders> => {
  await mkdir(folderOfHeld(folder), { recursive: true, mode: 0o700 })
  const stamp = join(folderOfHeld(folder), `${digest(paths.join("\n"))}-stamp`)
  const since = (await lstat(stamp).catch(() => undefined))?.mtimeMs ?? 0
  const next = `${stamp}.${randomUUID()}`
  await writeFile(next, "")
  const known = (await Promise.all((await recordsBeside(folder)).map(readRecord))).flatMap(foldersIn)
  const kept = await Promise.all(
    paths.map(async (path) => {
      const identity = await identityOf(path)
      // Where it is the same one, the mount of that command is on it.
      const couldWrite = known.some((one) => one.path === path && one.identity !== identity)
      return { path, ...(await keep(path, folder, since, couldWrite)) }
    })
  )
  await (kept.every(({ isCurrent }) => isCurrent) ? rename(next, stamp) : rm(next))
  return { paths, copied: kept.flatMap(({ isCopied, path }) => (isCopied ? [path] : [])), stamp }
}

/** The folders of a policy. */
export const holdFolders = async (folder: string, { guarded }: Pick<Policy, "guarded">): Promise<HeldFolders> => {
  const paths = outermost(guarded)
  const found = await Promise.all(paths.map((path) => lstat(path).catch(() => undefined)))
  return holdAgain(
    folder,
    paths.filter((_, at) => found[at]?.isDirectory() === true)
  )
}

export interface Replaced {
  readonly path: string
  /** Whether the one from before is back in its place. */
  readonly isBack: boolean
}

/** A command that goes on may make it again. */
const mostTries = 5

/** Says whether there was a copy, and a folder to put it in. */
const putBack = async (path: string, copy: string, refused: string): Promise<boolean> => {
  if (!exists(copy) || !exists(dirname(path))) return false
  for (let tries = 1; ; tries += 1) {
    try {
      await copied(copy, copy, (made) =>
        inItsFolder(path, (pinned) =>
          rename(made, pinned).catch((error) =>
            hasCode(error, "EXDEV") && typeof pinned === "string" ? copyTo(made, pinned) : Promise.reject(error)
          )
        )
      )
      return true
    } catch (error) {
      if (tries === mostTries || !hasCode(error, "ENOTEMPTY", "EEXIST", "ENOTDIR")) throw error
      await putAside(path, refused)
    }
  }
}

/**
 * Puts aside what took the place of folders while a command ran, unless it holds what they held. `record`: the path of what its
 * program wrote down, `text`: that.
 */
export const settleFolders = async (
  record: string,
  text: string,
  refused: string
): Promise<ReadonlyArray<Replaced>> => {
  const replaced: Array<Replaced> = []
  for (const { identity, path } of foldersIn(text)) {
    const now = await identityOf(path)
    if (now === undefined || now === identity) continue
    // A folder above it may be a link by now, which leads to somebody's own files.
    const above = linkAbove(path)
    const copy = copyOf(dirname(record), path)
    if (above === undefined && (await isSame(path, copy).catch(() => false))) continue
    await putAside(above ?? path, refused)
    replaced.push({ path: above ?? path, isBack: above === undefined && (await putBack(path, copy, refused)) })
  }
  return replaced
}
