/** What the disk has at a path. Reads only. */
import { realpath, stat } from "node:fs/promises"
import type { Found } from "./policy.ts"

/** Real paths, so that a mount lies on what a link leads to; undefined for what does not exist. */
export const find = async (path: string): Promise<Found | undefined> => {
  try {
    const real = await realpath(path)
    return { path: real, kind: (await stat(real)).isDirectory() ? "folder" : "file" }
  } catch {
    return undefined
  }
}

export const findAll = async (paths: ReadonlyArray<string>): Promise<ReadonlyArray<Found>> => {
  const found = (await Promise.all(paths.map(find))).filter((one) => one !== undefined)
  return [...new Map(found.map((one) => [one.path, one])).values()]
}

export const pathsOf = (found: ReadonlyArray<Found>) => found.map(({ path }) => path)
