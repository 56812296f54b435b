/** Which folders are git directories, what commits obey in one, and where files lead that name one: `.git`, `gitdir` and `commondir`. Reads only. */
import { lstat } from "node:fs/promises"
import { basename, dirname, isAbsolute, join, resolve } from "node:path"
import { readForeignFile } from "@reprise/process"
import { steadyOf } from "../disk/pathsOnDisk.ts"

/**
 * In a git directory, obeyed by the next commit or merge: whose content is a resolved conflict, by paths that may lead anywhere, and
 * which commit is then unpacked into the tree, with hooks and settings.
 */
export const obeyedByCommits: ReadonlyArray<string> = ["MERGE_RR", "MERGE_AUTOSTASH"]

const largestBytes = 1024 * 1024
export const unreadable = "a configuration that cannot be read"

/** Undefined: there is none. */
export const textOf = (path: string): Promise<Buffer | typeof unreadable | undefined> =>
  readForeignFile(path, { largestBytes, follow: false }).catch(() => unreadable)

/**
 * As the kernel goes, for which `..` after a link is beside what the link leads to. Undefined: nothing is there, its path is no
 * text, or it is elsewhere for each program.
 */
export const realFrom = (folder: string, path: string): string | undefined =>
  steadyOf(isAbsolute(path) ? path : `${folder}/${path}`)

const [lineFeed, carriageReturn] = [0x0a, 0x0d]

/**
 * Where a pointer leads, in a file of git's, as git reads it: to its end, without line breaks there, and from the folder in which
 * it is found, also where it is a link.
 */
export const pointed = async (path: string, prefix = "", file = path): Promise<string | "unclear" | undefined> => {
  const text = await textOf(file)
  if (text === undefined) return undefined
  if (text === unreadable) return "unclear"
  const line = text.toString("utf8", 0, text.findLastIndex((byte) => byte !== lineFeed && byte !== carriageReturn) + 1)
  const target = line.slice(prefix.length)
  // What git may read in another way than this leads nobody knows where.
  const isPlain = line.startsWith(prefix) && Buffer.from(line).equals(text.subarray(0, Buffer.byteLength(line)))
  return isPlain && target !== "" && target === target.trim() && !/\p{Cc}/u.test(target)
    ? (realFrom(dirname(path), target) ?? "unclear")
    : "unclear"
}

/** Whether a file `.git` names a worktree or submodule of a repository that does not exist there. */
export const leadsToNothingIn = async (
  path: string,
  { common, directory }: { readonly common: string; readonly directory: string }
): Promise<boolean> => {
  if ((await lstat(path)).isSymbolicLink()) return false
  const text = await textOf(path)
  if (text === undefined || text === unreadable) return false
  const target = /^gitdir: ([^\p{Cc}]+)\n?$/u.exec(text.toString("utf8"))?.[1]
  if (target === undefined || target.includes("\ufffd")) return false
  const written = resolve(dirname(path), target)
  const places = [common, directory].flatMap((one) => [join(one, "worktrees"), join(one, "modules")])
  return (
    places.some((place) => written.startsWith(`${place}/`)) &&
    (isAbsolute(target) || realFrom(dirname(path), ".") === dirname(path)) &&
    (await lstat(written).catch(() => undefined)) === undefined
  )
}

/**
 * Whether a git directory leads to the one around it, as git writes it for a worktree. Any other pointer could lead to another
 * configuration as soon as a folder is renamed, which changes no file by a name of git's.
 */
export const isOfWorktree = async (directory: string): Promise<boolean> => {
  const text = await textOf(join(directory, "commondir"))
  return text?.toString("latin1").trimEnd() === "../.." && basename(dirname(directory)) === "worktrees"
}

/** The git directory behind `.git`; undefined: there is none. */
export const directoryOf = async (path: string): Promise<string | "unclear" | undefined> => {
  const entry = await lstat(path).catch(() => undefined)
  if (entry === undefined) return undefined
  const real = steadyOf(path)
  // What a link leads to may be made later.
  const found = real === undefined ? undefined : await lstat(real).catch(() => undefined)
  if (real === undefined || found === undefined) return "unclear"
  return found.isDirectory() ? real : pointed(path, "gitdir: ", real)
}

/**
 * git asks whether `objects` and `refs` can be entered or run, so files will do, and a later command may add one of them. A
 * folder `config` is none of git's.
 */
export const isBare = async (folder: string): Promise<boolean> => {
  const at = (name: string) => lstat(join(folder, name)).catch(() => undefined)
  const [config, ...others] = await Promise.all(["config", "commondir", "objects", "refs"].map(at))
  return config?.isDirectory() === false || others.some((one) => one !== undefined)
}
