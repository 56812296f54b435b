/**
 * Protected files whose mount would end if somebody outside replaced them: a command that goes on could write them from then on,
 * and nobody can tell whose the new content is. A second name tells whether the file is still the one that was there; whoever finds
 * another one after a command puts back a copy of the first one. A copy, since in the moment of the replacement, when its mount is
 * gone and its name still there, a command can write the first one, too.
 */
import { createHash, randomUUID } from "node:crypto"
import { constants } from "node:fs"
import { copyFile, link, lstat, mkdir, open, readdir, rename, rm } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { hasCode } from "@reprise/process"
import { contentOf } from "../disk/contentOf.ts"
import { inItsFolder } from "../disk/pinnedFolder.ts"
import { putAside } from "../disk/putAside.ts"
import { isWithin } from "../policy/mounts.ts"
import type { Policy } from "../policy/policy.ts"

export interface HeldFile {
  readonly path: string
  /** The second name. */
  readonly held: string
}

/** Where the copy of a held file is. */
export const copySuffix = "-copy"

const copyOf = ({ held }: HeldFile) => `${held}${copySuffix}`

/** By this name a file is held. */
const digest = (path: string) => createHash("sha256").update(path).digest("hex").slice(0, 24)

/** Beside the folder of what commands said; no command sees either. */
export const folderOfHeld = (folder: string) => join(dirname(folder), "held")

const isFile = (path: string) =>
  lstat(path).then(
    (found) => found.isFile(),
    () => false
  )

const couldWrite = ({ mounts }: Pick<Policy, "mounts">, path: string) =>
  mounts.some((mount) => mount.as === "writable" && isWithin(path, mount.path))

/** `place` moves a copy of a file, beside its second name, to where it belongs. */
const copied = async (from: string, held: string, place: (copy: string) => Promise<void>): Promise<void> => {
  const copy = `${held}.${randomUUID()}`
  try {
    await copyFile(from, copy, constants.COPYFILE_EXCL)
    const file = await open(copy, "r")
    await file.sync().finally(() => file.close())
    await place(copy)
  } finally {
    await rm(copy, { force: true })
  }
}

/** Puts a copy of a file at a path, so that no other name that a command has made leads there. */
const putCopy = (from: string, { held, path }: HeldFile): Promise<void> =>
  copied(from, held, (copy) => inItsFolder(path, (pinned) => rename(copy, pinned)))

/** Whether a file has more names than its own and those by which Reprise's processes hold it. */
const hasOtherNames = async ({ held, path }: HeldFile): Promise<boolean> => {
  const { dev, ino, nlink } = await lstat(path)
  if (nlink === 1) return false
  const hosts = dirname(dirname(dirname(held)))
  const others = await Promise.all(
    (await readdir(hosts).catch(() => [])).map((host) =>
      lstat(join(hosts, host, basename(dirname(held)), basename(held))).catch(() => undefined)
    )
  )
  return nlink > 1 + others.filter((one) => one?.ino === ino && one.dev === dev).length
}

/** Whether it could be: a file on another disk cannot have a second name. */
const hold = async (file: HeldFile): Promise<boolean> => {
  const { held, path } = file
  await copied(path, held, (copy) => rename(copy, copyOf(file)))
  return link(path, held).then(
    () => true,
    (error) => hasCode(error, "EEXIST")
  )
}

/** `folder`: of what commands said. Holds the protected files of a policy, but for those on another disk. */
export const holdFiles = async (folder: string, policy: Pick<Policy, "mounts">): Promise<ReadonlyArray<HeldFile>> => {
  await mkdir(folderOfHeld(folder), { recursive: true, mode: 0o700 })
  const files: Array<HeldFile> = []
  for (const { as, from, path } of policy.mounts) {
    if (as !== "readable" || from !== undefined || !couldWrite(policy, path) || !(await isFile(path))) continue
    const held = join(folderOfHeld(folder), digest(path))
    // A command may have given it a name before it was protected. One on another disk stays as it is.
    if (await hasOtherNames({ path, held })) {
      await putCopy(path, { path, held }).catch((error) =>
        hasCode(error, "EXDEV") ? undefined : Promise.reject(error)
      )
    }
    // A command of an earlier policy may run: what it is held against stays.
    const isHeld = (await isFile(held)) || (await hold({ path, held }))
    if (isHeld) files.push({ path, held })
  }
  return files
}

/** In the folder of what commands said: a path for each file that the program of a command put back. */
export const putBackName = "put-back"

/** A line of the record of a running command. */
export const recordOf = ({ held, path }: HeldFile): string => `=${basename(held)}=${path}`

/** `record`: the file with the lines. No file is put back as another one. */
export const heldIn = (record: string, text: string): ReadonlyArray<HeldFile> =>
  text.split("\n").flatMap((line) => {
    const [, name, path] = /^=([0-9a-f]+)=(\/.*)$/.exec(line) ?? []
    const isHeld = path !== undefined && name === digest(path)
    return isHeld ? [{ path, held: join(folderOfHeld(dirname(record)), name) }] : []
  })

const isSameText = async (file: HeldFile): Promise<boolean> => {
  const [first, now] = await Promise.all([copyOf(file), file.path].map((one) => contentOf(one)))
  return first !== "" && first === now
}

/**
 * Puts back a file that is another one by now, as a copy: a command that goes on may write it from now on, and what it is compared
 * with stays. Says whether it was.
 */
export const putBack = async (file: HeldFile, refused: string): Promise<boolean> => {
  const { held, path } = file
  const [first, now] = await Promise.all([held, path].map((one) => lstat(one).catch(() => undefined)))
  if (first === undefined || now === undefined || (first.ino === now.ino && first.dev === now.dev)) return false
  if (await isSameText(file)) return false
  await putAside(path, refused)
  await putCopy(copyOf(file), file)
  return true
}
