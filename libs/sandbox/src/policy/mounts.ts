/** What lies where for a command. Pure. */
import { dirname } from "node:path"

/** Where a command finds a path, the later one on top. */
export interface Mount {
  readonly path: string
  readonly as: "writable" | "readable" | "hidden-file" | "hidden-folder"
  /** The folder that is seen there; absent: the path itself. */
  readonly from?: string
}

export const isWithin = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`)

/** Those above a path, from the top, without the root. */
export const foldersAbove = (path: string): ReadonlyArray<string> => {
  const above = dirname(path)
  return above === path || above === "/" ? [] : [...foldersAbove(above), above]
}

const strictness = { writable: 0, readable: 1, "hidden-file": 2, "hidden-folder": 2 } as const

/** Parents first; of two for one path the stricter one last. */
export const ordered = (mounts: ReadonlyArray<Mount>): ReadonlyArray<Mount> =>
  [...mounts].sort((a, b) => {
    if (a.path === b.path) return strictness[a.as] - strictness[b.as]
    return `${a.path}/` < `${b.path}/` ? -1 : 1
  })

/** The last mount at or above a path. `mounts`: in order. */
export const seenIn = (mounts: ReadonlyArray<Mount>, path: string): Mount | undefined =>
  mounts.findLast((mount) => isWithin(path, mount.path))
