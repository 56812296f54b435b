/**
 * What a protected path stands on. A mount keeps a file as it is, but not where it is: the folder above it could be renamed
 * and made anew, and a link on the way to it replaced. Reads only.
 */
import { lstatSync, readlinkSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { hasCode } from "@reprise/process"
import { isWithin } from "./mounts.ts"
import type { Anchors } from "./policy.ts"

const longestChain = 8

const entryOf = (path: string) => {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    // In a worktree `.git` is a file, whatever folder `core.hooksPath` names in it.
    if (hasCode(error, "ENOTDIR")) return undefined
    throw error
  }
}

/** `paths`: absolute. `writable`: where commands may write; what stands elsewhere needs no anchor. */
export const anchorsOf = (paths: ReadonlyArray<string>, writable: ReadonlyArray<string>): Anchors => {
  const folders = new Set<string>()
  const links = new Map<string, string>()
  const missing = new Set<string>()
  const look = (path: string, followed: number): void => {
    const root = writable.filter((one) => path !== one && isWithin(path, one)).sort((a, b) => a.length - b.length)[0]
    if (root === undefined) return
    let at = root
    for (const name of relative(root, path).split("/")) {
      at = join(at, name)
      const found = entryOf(at)
      if (found === undefined) {
        if (followed > 0) missing.add(path)
        return
      }
      if (found.isSymbolicLink()) {
        if (links.has(at) || followed > longestChain) return
        const target = readlinkSync(at)
        links.set(at, target)
        look(resolve(dirname(at), target, relative(at, path)), followed + 1)
        return
      }
      if (found.isDirectory() && at !== path) folders.add(at)
    }
  }
  for (const path of paths) look(path, 0)
  return {
    folders: [...folders],
    links: [...links].map(([path, target]) => ({ path, target })),
    missing: [...missing]
  }
}
