/**
 * Skills in folders of the tree: Claude finds them beside files that it works on, and one may name hooks, which run outside of
 * the sandbox. Those at the top are files that bear commands. Reads only.
 */
import { lstat, realpath } from "node:fs/promises"
import { join } from "node:path"
import { contentsBelow } from "../disk/contentOf.ts"
import { isWithin } from "../policy/mounts.ts"
import type { Spend } from "./lookLimits.ts"

/** By this name Claude finds them, some file systems in any case of letters. */
export const skillsHome = ".claude"

interface Looking {
  readonly workspace: string
  readonly spend: Spend
  readonly dependsOn: (path: string) => void
}

/**
 * `home`: a folder `.claude`, or a link by this name, which counts as a whole, with the skills that it leads to in the workspace.
 * Undefined: there are no skills in it.
 */
export const skillsAt = async (home: string, { dependsOn, spend, workspace }: Looking) => {
  const isLink = (await lstat(home).catch(() => undefined))?.isSymbolicLink() === true
  const inHome = join(home, "skills")
  const real = isLink ? await realpath(inHome).catch(() => undefined) : undefined
  if (real !== undefined) dependsOn(real)
  const behind = real !== undefined && isWithin(real, workspace) ? await contentsBelow(real, spend) : []
  const path = isLink ? home : inHome
  const contents = [...(await contentsBelow(path, spend)), ...behind]
  if (contents.length === 0) return undefined
  return { path, says: ["skills of Claude"], content: contents.join("\0") }
}
