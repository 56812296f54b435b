/**
 * Folder objects that git reads though they are none that it writes. What a folder is then depends on who reads it, and servers
 * that look (`receive.fsckObjects`) take no push of them. Pure.
 */
import { asBytes, type Bytes } from "./pathBytes.ts"

interface Entry {
  readonly type: string
  readonly path: string
  readonly bytes?: Bytes
}

const folderOf = (path: Bytes): Bytes => path.slice(0, Math.max(path.lastIndexOf("/"), 0))

/** git sorts a folder as if its name ended with a slash. */
const sortKey = (type: string, path: Bytes): Bytes => (type === "tree" ? `${path}/` : path)

/**
 * The paths at which the entries of a commit, in the order of `git ls-tree -r -t`, are not as git writes them: with a slash in a
 * name, twice, or not in git's order.
 */
export const malformedPaths = (entries: ReadonlyArray<Entry>): ReadonlyArray<string> => {
  const folders = new Set([""])
  const seen = new Set<Bytes>()
  const newest = new Map<Bytes, Bytes>()
  return entries.flatMap(({ bytes, path, type }) => {
    const name = bytes ?? asBytes(path)
    const folder = folderOf(name)
    const key = sortKey(type, name)
    const isSound = folders.has(folder) && !seen.has(name) && key > (newest.get(folder) ?? "")
    if (type === "tree") folders.add(name)
    seen.add(name)
    newest.set(folder, key)
    return isSound ? [] : [path]
  })
}
