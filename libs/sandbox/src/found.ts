/** What the disk has at a path. Reads only. */
import { readlink, realpath, stat } from "node:fs/promises"
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

/** Real paths, so that a mount lies on what a link leads to; undefined for what does not exist. */
export const find = async (path: string): Promise<Found | undefined> => {
  try {
    const real = await realpath(path)
    return { path: real, kind: (await stat(real)).isDirectory() ? "folder" : "file" }
  } catch {
    return undefined
  }
}

const longestChain = 40

/** Where a path leads, as the kernel goes, whether something is there or not: the nearest folder that exists, and the rest. */
export const leadsTo = async (path: string, followed = 0): Promise<string> => {
  const real = await realpath(path).catch(() => undefined)
  if (real !== undefined || dirname(path) === path || followed > longestChain) return real ?? path
  const above = await leadsTo(dirname(path), followed)
  const at = join(above, basename(path))
  const target = await readlink(at).catch(() => undefined)
  return target === undefined ? at : leadsTo(resolve(above, target), followed + 1)
}

export const findAll = async (paths: ReadonlyArray<string>): Promise<ReadonlyArray<Found>> => {
  const found = (await Promise.all(paths.map(find))).filter((one) => one !== undefined)
  return [...new Map(found.map((one) => [one.path, one])).values()]
}

export const pathsOf = (found: ReadonlyArray<Found>) => found.map(({ path }) => path)
