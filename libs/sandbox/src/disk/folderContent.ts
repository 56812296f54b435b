/** What a small folder holds, and whether another one holds the same. Reads only. */
import { lstat, readlink } from "node:fs/promises"
import { join } from "node:path"
import { hasCode, readForeignFile, readForeignFolder } from "@reprise/process"

/** More is not looked at. */
const mostEntries = 2000
const mostBytes = 16 * 1024 * 1024

/** Of the mode, who may run it, and whether others may write it: what git and programs go by. */
const modeThatCounts = 0o7122

interface Entry {
  /** Relative to the folder. */
  readonly name: string
  readonly kind: "folder" | "file" | "other"
  /** Everything that is to be the same, but for the content of a file. */
  readonly shape: string
  readonly size: number
  /** How many names lead to it. */
  readonly names: number
  /** Nobody can set it back. */
  readonly changedMs: number
}

const entryAt = async (root: string, name: string): Promise<Entry> => {
  const path = join(root, name)
  const found = await lstat(path)
  const mode = (found.mode & modeThatCounts).toString(8)
  const same = { name, names: found.nlink, changedMs: found.ctimeMs }
  if (found.isDirectory()) return { ...same, kind: "folder", shape: `folder ${mode}`, size: 0 }
  if (found.isFile()) return { ...same, kind: "file", shape: `file ${mode} ${found.size}`, size: found.size }
  const shape = found.isSymbolicLink() ? `link ${await readlink(path)}` : `device ${mode}`
  return { ...same, kind: "other", shape, size: 0 }
}

/** The folder first; undefined: it is too large. */
export const entriesOf = async (root: string): Promise<ReadonlyArray<Entry> | undefined> => {
  const entries = [await entryAt(root, "")]
  let bytes = 0
  // The loop goes on with what it finds.
  for (const { kind, name } of entries) {
    if (kind !== "folder") continue
    const below = await readForeignFolder(join(root, name), { mostEntries }).catch((error) =>
      hasCode(error, "ETOOMANY") ? undefined : Promise.reject(error)
    )
    if (below === undefined || entries.length + below.length > mostEntries) return undefined
    const found = await Promise.all(below.map((one) => entryAt(root, join(name, one.name))))
    bytes += found.reduce((sum, { size }) => sum + size, 0)
    if (bytes > mostBytes) return undefined
    entries.push(...found)
  }
  return entries
}

const bytesOf = async (path: string): Promise<Buffer> =>
  (await readForeignFile(path, { largestBytes: mostBytes, follow: false })) ??
  Promise.reject(new Error(`${path} is gone.`))

/**
 * Whether it holds what its copy does, and no name elsewhere leads to a file of it. Rejected where something changes meanwhile.
 * A time at which something was written does not count.
 */
export const isSame = async (folder: string, copy: string): Promise<boolean> => {
  const before = await entriesOf(copy)
  const now = await entriesOf(folder)
  if (now === undefined || before === undefined || now.length !== before.length) return false
  const shapes = new Map(before.map(({ name, shape }) => [name, shape]))
  const isOwn = ({ kind, names }: Entry) => kind !== "file" || names === 1
  if (!now.every((entry) => isOwn(entry) && shapes.get(entry.name) === entry.shape)) return false
  for (const { kind, name } of now) {
    if (kind !== "file") continue
    const [one, other] = await Promise.all([folder, copy].map((at) => bytesOf(join(at, name))))
    if (one === undefined || other === undefined || !one.equals(other)) return false
  }
  return true
}
