/** What is at some paths of a working tree, so that it can be told later which files are new or have another content. */
import { createHash } from "node:crypto"
import type { BigIntStats } from "node:fs"
import { lstat, readlink } from "node:fs/promises"
import { posix } from "node:path"
import { Schema } from "effect"
import { hasCode } from "./files.ts"
import { below, entriesBelow, entriesOf, limitedTo, placeOf } from "./folderEntries.ts"
import { readForeignFile, readForeignText } from "./foreignFile.ts"
import { asBytes, asClearText, asText, type Bytes, isUnclear } from "./pathBytes.ts"
import { isRuntimeConfig, withoutSchemaAddress } from "./workingTree.ts"

/** Of each file its path as bytes, and its state. `isWhole`: whether every file is among them. */
export const FileStates = Schema.Struct({
  files: Schema.Array(Schema.Tuple([Schema.String, Schema.String])),
  isWhole: Schema.Boolean
})
export type FileStates = typeof FileStates.Type

export interface StateLimits {
  /** Files that are looked at, and what folders hold that are read for them. */
  readonly mostFiles: number
  /** A larger file is known by its size, number and time of change alone; so is what comes after `mostBytes` of content. */
  readonly largestBytes: number
  readonly mostBytes: number
}

const usualLimits: StateLimits = { mostFiles: 100_000, largestBytes: 4 * 1024 * 1024, mostBytes: 128 * 1024 * 1024 }

const atOnce = 16

const absent = "absent"
/** Such as one in a folder that may not be entered. */
const unreachable = "unreachable"

const lookAt = (directory: Bytes, path: Bytes): Promise<BigIntStats | typeof absent | typeof unreachable> =>
  lstat(placeOf(directory, path), { bigint: true }).catch((error) =>
    hasCode(error, "ENOENT", "ENOTDIR") ? absent : unreachable
  )

const isNamed = (name: Bytes, text: string) => asText(name) === text || asClearText(name) === text

/**
 * Finds the names on the disk that a path stands for: of one that is not UTF-8 there may be several. `known`: paths that were there
 * before, of which one may be gone.
 */
const namesIn = (directory: Bytes, most: number, known: ReadonlyArray<Bytes>) => {
  const listed = new Map<Bytes, Promise<ReadonlyArray<Bytes>>>()
  const list = async (folder: Bytes) =>
    ((await entriesOf(directory, folder, limitedTo(most)).catch(() => undefined)) ?? []).map(({ name }) => name)
  return async (path: string): Promise<ReadonlyArray<Bytes>> => {
    if (!isUnclear(path)) return [asBytes(path.replace(/\/$/, ""))]
    let found: ReadonlyArray<Bytes> = ["."]
    for (const part of path.replace(/\/$/, "").split("/")) {
      const next: Array<Bytes> = []
      for (const folder of found) {
        if (!isUnclear(part)) next.push(below(folder, asBytes(part)))
        else {
          const names = listed.get(folder) ?? list(folder)
          listed.set(folder, names)
          next.push(...(await names).filter((name) => isNamed(name, part)).map((name) => below(folder, name)))
        }
      }
      found = next.slice(0, most)
    }
    if (found.length > 0) return found
    const gone = known.filter((one) => isNamed(one, path))
    return gone.length > 0 ? gone : [asBytes(path)]
  }
}

const isGits = (path: Bytes) => posix.basename(path) === ".git"

interface Listed {
  readonly paths: ReadonlySet<Bytes>
  /** Folders of which not all was listed. */
  readonly partly: ReadonlyArray<Bytes>
}

/** The files at and below some paths. What git keeps of a repository, which each git changes, is left out. */
const listFiles = async (
  directory: Bytes,
  paths: ReadonlyArray<string>,
  most: number,
  known: ReadonlyArray<Bytes> = []
): Promise<Listed> => {
  const namesOf = namesIn(directory, most, known)
  const found = new Set<Bytes>()
  const partly: Array<Bytes> = []
  for (const path of paths) {
    for (const one of await namesOf(path)) {
      const seen = await lookAt(directory, one)
      if (typeof seen === "string" || !seen.isDirectory()) found.add(one)
      else if (!isGits(one)) {
        const inside = await entriesBelow(directory, one, most - found.size, (name) => !isGits(name))
        if (inside === undefined) partly.push(one)
        for (const entry of inside ?? []) found.add(entry.path)
      }
      if (found.size > most) return { paths: found, partly: [...partly, posix.dirname(one)] }
    }
  }
  return { paths: found, partly }
}

/** The third is of this file alone, and another after each change of which the file system tells. */
const stateOf = ({ ctimeNs, ino, mode, size }: BigIntStats, hash: string) => `${mode} ${size} ${ino}:${ctimeNs} ${hash}`

const unread = "-"

const sha256 = (content: Buffer | string) => createHash("sha256").update(content).digest("hex")

/** Gets what was hashed. */
type Keep = (hash: string, content: Buffer) => Promise<void>

const hashOf = async (
  directory: Bytes,
  path: Bytes,
  found: BigIntStats,
  largestBytes: number,
  keep?: Keep
): Promise<string> => {
  const place = placeOf(directory, path)
  const read = found.isSymbolicLink()
    ? readlink(place, "buffer")
    : found.isFile() && found.size <= largestBytes
      ? readForeignFile(place, { largestBytes, follow: false })
      : undefined
  const content = await read?.catch(() => undefined)
  if (content === undefined) return unread
  const hash = sha256(content)
  await keep?.(hash, content)
  return hash
}

/** Runs in groups, in order. */
const inGroups = async <A>(all: Iterable<A>, run: (one: A) => Promise<void>) => {
  const list = [...all]
  for (let at = 0; at < list.length; at += atOnce) await Promise.all(list.slice(at, at + atOnce).map(run))
}

/** Looks at files, and at each file of folders. `paths`: as git writes them, relative. `keep` gets the content of a link, too: where it leads. */
export const readFileStates = async (
  directory: string,
  paths: ReadonlyArray<string>,
  keep?: Keep,
  { largestBytes, mostBytes, mostFiles }: StateLimits = usualLimits
): Promise<FileStates> => {
  const root = asBytes(directory)
  const listed = await listFiles(root, paths, mostFiles)
  const files: Array<readonly [Bytes, string]> = []
  let left = mostBytes
  await inGroups([...listed.paths].slice(0, mostFiles), async (path) => {
    const found = await lookAt(root, path)
    if (typeof found === "string") return void files.push([path, found])
    const isRead = found.size <= Math.min(left, largestBytes)
    if (isRead) left -= Number(found.size)
    files.push([path, stateOf(found, isRead ? await hashOf(root, path, found, largestBytes, keep) : unread)])
  })
  return { files, isWhole: listed.partly.length === 0 }
}

export interface ChangedFile {
  /** A folder ends in `/`. */
  readonly path: string
  /** `unlisted`: a folder that holds more than can be compared. */
  readonly how: "new" | "changed" | "unlisted"
  /** What it was, where its content was hashed: the SHA-256, and the mode with the kind of the file. */
  readonly before?: { readonly hash: string; readonly mode: number }
}

const contentOf = (state: string): Pick<ChangedFile, "before"> => {
  const [mode, , , hash = unread] = state.split(" ")
  return hash === unread ? {} : { before: { hash, mode: Number(mode) } }
}

/** Whether only OpenCode has changed the file, as it does whenever it starts. */
const isByRuntime = async (root: Bytes, path: Bytes, hash: string, largestBytes: number): Promise<boolean> => {
  if (!isRuntimeConfig(asText(path))) return false
  const text = await readForeignText(placeOf(root, path), { largestBytes, follow: false }).catch(() => undefined)
  return text !== undefined && sha256(withoutSchemaAddress(text)) === hash
}

const isSame = async (root: Bytes, path: Bytes, before: string, largestBytes: number): Promise<boolean> => {
  const found = await lookAt(root, path)
  if (typeof found === "string") return found === before
  const [mode = "", size = "", , hash = unread] = before.split(" ")
  if (hash === unread) return stateOf(found, hash) === before
  if (`${found.mode}` !== mode) return false
  if (`${found.size}` !== size) return isByRuntime(root, path, hash, largestBytes)
  return (await hashOf(root, path, found, largestBytes)) === hash
}

/** Files at and below some paths that are not as they were. Where not all was known, a new one is none. */
export const changedFiles = async (
  directory: string,
  paths: ReadonlyArray<string>,
  before: FileStates,
  { largestBytes, mostFiles }: StateLimits = usualLimits
): Promise<ReadonlyArray<ChangedFile>> => {
  const root = asBytes(directory)
  const known = new Map(before.files)
  const listed = await listFiles(root, paths, mostFiles, [...known.keys()])
  const changed: Array<ChangedFile> = before.isWhole
    ? listed.partly.map((folder) => ({ path: `${asClearText(folder)}/`, how: "unlisted" }))
    : []
  await inGroups(listed.paths, async (path) => {
    const state = known.get(path)
    if (state === undefined && before.isWhole) changed.push({ path: asClearText(path), how: "new" })
    if (state !== undefined && !(await isSame(root, path, state, largestBytes)))
      changed.push({ path: asClearText(path), how: "changed", ...contentOf(state) })
  })
  return changed.sort((one, other) => (one.path < other.path ? -1 : 1))
}
