/** What the disk has at a path. Reads only. */
import { lstat, readlink, realpath, stat } from "node:fs/promises"
import { basename, dirname, isAbsolute, join, resolve } from "node:path"
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

export const findAll = async (paths: ReadonlyArray<string>): Promise<ReadonlyArray<Found>> => {
  const found = (await Promise.all(paths.map(find))).filter((one) => one !== undefined)
  return [...new Map(found.map((one) => [one.path, one])).values()]
}

export const pathsOf = (found: ReadonlyArray<Found>) => found.map(({ path }) => path)
