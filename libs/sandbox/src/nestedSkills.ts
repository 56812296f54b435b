/**
 * Skills in folders of the tree: Claude finds them beside files that it works on, and one may name hooks, which run outside of
 * the sandbox. Those at the top are files that bear commands. Reads only.
 */
import { lstat } from "node:fs/promises"
import { join } from "node:path"
import { contentsBelow } from "./contentOf.ts"
import type { Spend } from "./lookLimits.ts"

/** By this name Claude finds them, some file systems in any case of letters. */
export const skillsHome = ".claude"

/** `home`: a folder `.claude`, or a link by this name. Undefined: there are no skills in it. */
export const skillsAt = async (home: string, spend: Spend) => {
  const found = await lstat(home).catch(() => undefined)
  const isLink = found?.isSymbolicLink() === true
  const path = isLink ? home : join(home, "skills")
  const contents = await contentsBelow(path, spend)
  if (contents.length === 0) return undefined
  return { path, says: ["skills of Claude"], content: contents.join("\0") }
}
