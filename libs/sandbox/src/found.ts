/** What the disk has at a path. Reads only. */
import { lstat, readlink, realpath, stat } from "node:fs/promises"
import { basename, dirname, isAbsolute, join, resolve } from "node:path"
import { hasCode, readForeignFolder } from "@reprise/process"
import type { Found } from "./policy.ts"

/**
 * Where a path is relative to a folder: as it is written, which is the way that links on it are looked at, and as the kernel
 * goes, for which `..` after a link is beside what the link leads to.
 */
export const waysTo = async (folder: string, path: string): Promise<ReadonlyArray<string>> => {
  const written = resolve(folder, path)
  const asTheKernelGoes = isAbsolute(path) ? path : `${folder}/${path}`
  const above = await realpath(dirname(asTheKernelGoes)).catch(() => undefined)
  return above === undefined ? [written] : [...new Set([written, join(above, basename(asTheKernelGoes))])]
}

/** Whatever it is, a link that leads nowhere, too. */
export const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false
  )

/** The uppermost folder of a path that is a link. */
export const linkAbove = async (path: string): Promise<string | undefined> => {
  const above = dirname(path)
  if (above === path) return undefined
  const upper = await linkAbove(above)
  if (upper !== undefined) return upper
  return (await lstat(above).catch(() => undefined))?.isSymbolicLink() === true ? above : undefined
}

/** Real paths, so that a mount lies on what a link leads to; undefined for what does not exist. */
export const find = async (path: string): Promise<Found | undefined> => {
  try {
    // Most do not exist, and this says so sooner.
    const found = await stat(path)
    return { path: await realpath(path), kind: found.isDirectory() ? "folder" : "file" }
  } catch {
    return undefined
  }
}

const longestChain = 40

/**
 * Where paths lead, as the kernel goes, whether something is there or not: the nearest folder that exists, and the rest. Remembers
 * the folders on the way, so use it for paths of one moment.
 */
export const makeLeadsTo = (): ((path: string) => Promise<string>) => {
  const known = new Map<string, Promise<string>>()
  const look = async (path: string, followed: number): Promise<string> => {
    if (dirname(path) === path) return path
    const above = await remembered(dirname(path), followed)
    const at = join(above, basename(path))
    const target = followed > longestChain ? undefined : await readlink(at).catch(() => undefined)
    return target === undefined ? at : remembered(resolve(above, target), followed + 1)
  }
  // Behind a link nothing is remembered: one that leads to itself would wait for itself.
  const remembered = (path: string, followed: number): Promise<string> => {
    if (followed > 0) return look(path, followed)
    const found = known.get(path) ?? look(path, 0)
    known.set(path, found)
    return found
  }
  return (path) => remembered(path, 0)
}

/** Each place once, without what does not exist. */
export const eachOnce = (found: ReadonlyArray<Found | undefined>): ReadonlyArray<Found> => [
  ...new Map(found.flatMap((one) => (one === undefined ? [] : [[one.path, one] as const]))).values()
]

export const findAll = async (paths: ReadonlyArray<string>): Promise<ReadonlyArray<Found>> =>
  eachOnce(await Promise.all(paths.map(find)))

/** In a larger folder each path is asked for. */
const mostListed = 5000

/** A disk may take names in any case of letters. */
const asListed = (name: string) => name.normalize("NFC").toLowerCase()

/** Whether something may be at a path, by lists of the folders on the way: each is read once. One that cannot be listed may hold anything. */
const makeMayExist = (): ((path: string) => Promise<boolean>) => {
  const known = new Map<string, Promise<ReadonlySet<string> | undefined>>()
  const list = async (folder: string): Promise<ReadonlySet<string> | undefined> => {
    if (!(await mayExist(folder))) return new Set()
    const entries = await readForeignFolder(folder, { mostEntries: mostListed }).catch((error) =>
      hasCode(error, "ENOTDIR") ? [] : ("unlisted" as const)
    )
    return entries === "unlisted" ? undefined : new Set((entries ?? []).map(({ name }) => asListed(name)))
  }
  const mayExist = async (path: string): Promise<boolean> => {
    const folder = dirname(path)
    if (folder === path) return true
    const names = known.get(folder) ?? list(folder)
    known.set(folder, names)
    return (await names)?.has(asListed(basename(path))) ?? true
  }
  return mayExist
}

/**
 * For hundreds of paths, of which most do not exist: folders are listed instead of each path being asked for, each once, so use it
 * for paths of one moment. Gives what is found in the order of the paths.
 */
export const makeFindEach = () => {
  const mayExist = makeMayExist()
  return (paths: ReadonlyArray<string>): Promise<ReadonlyArray<Found | undefined>> =>
    Promise.all(paths.map(async (path) => ((await mayExist(path)) ? find(path) : undefined)))
}

export const pathsOf = (found: ReadonlyArray<Found>) => found.map(({ path }) => path)
