/**
 * Skills in folders of the tree: Claude finds them beside files that it works on, and one may name hooks, which run outside of
 * the sandbox. Those at the top are files that bear commands. Reads only.
 */
import { lstat, readlink } from "node:fs/promises"
import { join } from "node:path"
import { readForeignFolder } from "@reprise/process"
import { contentOf } from "./contentOf.ts"

/** By this name Claude finds them, some file systems in any case of letters. */
export const skillsHome = ".claude"

const mostEntries = 5000

/** Changes with every file below a folder; links are told by where they lead. */
export const contentsBelow = async (path: string): Promise<ReadonlyArray<string>> => {
  const found = await lstat(path).catch(() => undefined)
  if (found === undefined) return []
  if (found.isSymbolicLink()) return [`${path} -> ${await readlink(path).catch(() => "")}`]
  if (!found.isDirectory()) return [`${path} ${await contentOf(path)}`]
  const entries = await readForeignFolder(path, { mostEntries }).catch(() => undefined)
  if (entries === undefined) return [`${path} cannot be read ${found.ctimeMs}`]
  const names = entries.map(({ name }) => name).toSorted()
  return [path, ...(await Promise.all(names.map((name) => contentsBelow(join(path, name))))).flat()]
}

/** `home`: a folder `.claude`, or a link by this name. Undefined: there are no skills in it. */
export const skillsAt = async (home: string) => {
  const found = await lstat(home).catch(() => undefined)
  const isLink = found?.isSymbolicLink() === true
  const path = isLink ? home : join(home, "skills")
  const contents = await contentsBelow(path)
  if (contents.length === 0) return undefined
  return { path, says: ["skills of Claude"], content: contents.join("\0") }
}
