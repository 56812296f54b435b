/**
 * What the disk has at a path. Reads only. These calls do not wait in a queue: they are hundreds before each turn, and most answer
 * sooner than a promise is made.
 */
import { lstatSync, readlinkSync, realpathSync, type Stats, statSync } from "node:fs"
import { basename, dirname, isAbsolute, join, resolve } from "node:path"
import { steadyPath, UnsteadyPath } from "@reprise/process"
import { isWithin } from "../policy/mounts.ts"
import type { Found } from "../policy/policy.ts"

const orUndefined = <A>(look: () => A): A | undefined => {
  try {
    return look()
  } catch {
    return undefined
  }
}

/** A link itself, wherever it leads. Undefined: nothing is there, or nobody may look. */
export const entryAt = (path: string): Stats | undefined =>
  orUndefined(() => lstatSync(path, { throwIfNoEntry: false }))

/** Whatever it is, a link that leads nowhere, too. */
export const exists = (path: string): boolean => entryAt(path) !== undefined

/** Undefined: it is no link. */
export const targetOf = (path: string): string | undefined =>
  // Most are none, and a failure takes as long as ten looks.
  entryAt(path)?.isSymbolicLink() === true ? orUndefined(() => readlinkSync(path)) : undefined

export const realOf = (path: string): string | undefined => orUndefined(() => realpathSync.native(path))

/** Of a path that a command may have chosen: undefined also where it leads each program elsewhere. */
export const steadyOf = (path: string): string | undefined => orUndefined(() => steadyPath(path))

const deviceFolders = ["/proc", "/dev"]

/** Whether a link leads each program elsewhere, or to a folder with such links. */
export const leadsElsewhere = (link: string): boolean => {
  try {
    const real = steadyPath(link)
    return deviceFolders.some((folder) => isWithin(real, folder)) && entryAt(real)?.isDirectory() === true
  } catch (error) {
    return error instanceof UnsteadyPath
  }
}

/**
 * Where a path is relative to a folder: as it is written, which is the way that links on it are looked at, and as the kernel
 * goes, for which `..` after a link is beside what the link leads to.
 */
export const waysTo = (folder: string, path: string): ReadonlyArray<string> => {
  const written = resolve(folder, path)
  const asTheKernelGoes = isAbsolute(path) ? path : `${folder}/${path}`
  const above = realOf(dirname(asTheKernelGoes))
  return above === undefined ? [written] : [...new Set([written, join(above, basename(asTheKernelGoes))])]
}

/** The uppermost folder of a path that is a link. */
export const linkAbove = (path: string): string | undefined => {
  const above = dirname(path)
  if (above === path) return undefined
  return linkAbove(above) ?? (entryAt(above)?.isSymbolicLink() === true ? above : undefined)
}

/** Real paths, so that a mount lies on what a link leads to; undefined for what does not exist. */
export const find = (path: string): Found | undefined => {
  // Most do not exist, and this says so soonest.
  const found = orUndefined(() => statSync(path, { throwIfNoEntry: false }))
  const real = found && realOf(path)
  return found && real !== undefined ? { path: real, kind: found.isDirectory() ? "folder" : "file" } : undefined
}

/** Each place once, without what does not exist. */
export const findAll = (paths: ReadonlyArray<string>): ReadonlyArray<Found> => [
  ...new Map(paths.flatMap((path) => find(path) ?? []).map((one) => [one.path, one])).values()
]

const longestChain = 40

/**
 * Where paths lead, as the kernel goes, whether something is there or not: the nearest folder that exists, and the rest. Remembers
 * the folders on the way, so use it for paths of one moment.
 */
export const makeLeadsTo = (): ((path: string) => string) => {
  const known = new Map<string, string>()
  const look = (path: string, followed: number): string => {
    if (dirname(path) === path) return path
    const above = remembered(dirname(path), followed)
    const at = join(above, basename(path))
    const target = followed > longestChain ? undefined : targetOf(at)
    return target === undefined ? at : remembered(resolve(above, target), followed + 1)
  }
  // Behind a link nothing is remembered: where a link leads depends on how many were followed before.
  const remembered = (path: string, followed: number): string => {
    if (followed > 0) return look(path, followed)
    const found = known.get(path) ?? look(path, 0)
    known.set(path, found)
    return found
  }
  return (path) => remembered(path, 0)
}

export const pathsOf = (found: ReadonlyArray<Found>) => found.map(({ path }) => path)
