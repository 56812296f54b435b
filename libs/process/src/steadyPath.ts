/**
 * Where a path that somebody else chose leads, for every program alike. Links of the kernel, such as `/proc/self/cwd` and `/dev/fd/3`,
 * lead each process elsewhere: what one has looked at, another one does not open. Reads only.
 */
import { lstatSync, readlinkSync, statfsSync } from "node:fs"
import { basename, dirname, isAbsolute, join } from "node:path"
import { hasCode } from "./files.ts"

const longestChain = 40

/** statfs(2). Where there is no such file system, as on macOS, no link is the kernel's. */
const ofKernel = 0x9fa0

export class UnsteadyPath extends Error {
  readonly code = "ELOOP"
  constructor(link: string) {
    super(`${link} leads each program elsewhere.`)
  }
}

const isOfKernel = (folder: string): boolean => process.platform === "linux" && statfsSync(folder).type === ofKernel

/**
 * The real path, as the kernel goes. Throws as `realpath` does, and `UnsteadyPath` (`ELOOP`) where a link of the kernel is on the way.
 * `path`: absolute.
 */
export const steadyPath = (path: string): string => {
  const waiting = path.split("/")
  let at = "/"
  let followed = 0
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    if (name === "" || name === ".") continue
    if (name === "..") {
      at = dirname(at)
      continue
    }
    const next = join(at, name)
    if (!lstatSync(next).isSymbolicLink()) {
      at = next
      continue
    }
    followed += 1
    if (followed > longestChain || isOfKernel(at)) throw new UnsteadyPath(next)
    const target = readlinkSync(next)
    if (isAbsolute(target)) at = "/"
    waiting.unshift(...target.split("/"))
  }
  return at
}

const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined

/** The same: of the nearest folder that exists, and the rest. Throws for a link that leads nowhere, whose target is unknown. */
export const steadyPathOrAbove = (path: string): string => {
  try {
    return steadyPath(path)
  } catch (error) {
    const above = dirname(path)
    if (!hasCode(error, "ENOENT") || above === path) throw error
    // A link that leads nowhere, or a file that was made just now.
    return isThere(path) ? steadyPath(path) : join(steadyPathOrAbove(above), basename(path))
  }
}
