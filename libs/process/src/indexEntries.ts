/**
 * The entries of an index as git finds them, read without git, which asks nothing about their paths. What git may read in another way
 * than this is refused: where a table says that entries are elsewhere, several threads of git read them there. Pure.
 */

import type { Bytes } from "./pathBytes.ts"
import { isRefusedPath } from "./pathsGitRefuses.ts"

export interface IndexEntry {
  readonly path: Bytes
  /** As of git: `0o100644`, `0o100755`, `0o120000`, `0o160000`, `0o40000`. */
  readonly mode: number
  /** Of a conflict 1 to 3. */
  readonly stage: number
}

export interface ReadIndex {
  readonly entries: ReadonlyArray<IndexEntry>
  /** Of a split index: the hash in the name of the other file, whose entries come first. Those without a path replace some there. */
  readonly link?: string
}

/** No index as git writes it. */
export class UnclearIndex extends Error {}

const unclear = (why: string): never => {
  throw new UnclearIndex(why)
}

const headerBytes = 12
const [hasMore, lengthBits, inFourth] = [0x4000, 0x0fff, 4]

interface At {
  readonly entry: IndexEntry
  readonly end: number
  /** Of the path before, as much as this one begins with. */
  readonly shared: number
}

/** As git writes a number of any size. */
const varintAt = (content: Buffer, at: number): { readonly value: number; readonly end: number } => {
  let byte = content.readUInt8(at)
  let value = byte & 0x7f
  let end = at + 1
  while ((byte & 0x80) !== 0) {
    byte = content.readUInt8(end)
    value = (value + 1) * 128 + (byte & 0x7f)
    end += 1
    if (value > content.length) return unclear("a number is too large")
  }
  return { value, end }
}

const entryAt = (content: Buffer, at: number, version: number, hashBytes: number, before: Bytes): At => {
  const flags = content.readUInt16BE(at + 40 + hashBytes)
  const isExtended = (flags & hasMore) !== 0
  if (isExtended && version < 3) return unclear("it has flags of a later version")
  const fixed = 40 + hashBytes + (isExtended ? 4 : 2)
  const { end: from, value: stripped } =
    version === inFourth ? varintAt(content, at + fixed) : { end: at + fixed, value: before.length }
  const shared = before.length - stripped
  const to = content.indexOf(0, from)
  if (shared < 0 || to === -1) return unclear("a path has no end")
  const path = before.slice(0, shared) + content.toString("latin1", from, to)
  if (Math.min(path.length, lengthBits) !== (flags & lengthBits)) return unclear("a path has another length")
  const end = version === inFourth ? to + 1 : at + ((fixed + path.length + 8) & ~7)
  const entry = { path, mode: content.readUInt32BE(at + 24), stage: (flags >> 12) & 3 }
  return { entry, end, shared }
}

interface Extension {
  readonly name: string
  readonly content: Buffer
}

const extensionsOf = (content: Buffer, from: number, to: number): ReadonlyArray<Extension> => {
  const found: Array<Extension> = []
  let at = from
  while (at < to) {
    const end = at + 8 + (at + 8 <= to ? content.readUInt32BE(at + 4) : to)
    if (end > to) return unclear("it does not end where it should")
    found.push({ name: content.toString("latin1", at, at + 4), content: content.subarray(at + 8, end) })
    at = end
  }
  return found
}

/** What threads of git would read: pieces, one after another, without a path that goes on with one of the piece before. */
const requireSameTable = (table: Buffer, starts: ReadonlyArray<number>, shared: ReadonlyArray<number>) => {
  let entry = 0
  for (let at = 4; at + 8 <= table.length; at += 8) {
    const count = table.readUInt32BE(at + 4)
    const isSame = count === 0 || (table.readUInt32BE(at) === starts[entry] && shared[entry] === 0)
    if (!isSame) unclear("its table says that entries are elsewhere")
    entry += count
  }
  if (entry !== starts.length) unclear("its table has not all entries")
}

const endTable = "EOIE"

/** git looks for it from the end, whatever it is a part of. */
const requireSameEnd = (content: Buffer, end: number, hashBytes: number) => {
  const at = content.length - hashBytes - 4 - hashBytes - 8
  if (at < headerBytes || content.toString("latin1", at, at + 4) !== endTable) return
  if (content.readUInt32BE(at + 8) !== end) unclear("its table says that entries end elsewhere")
}

const readAll = (content: Buffer, hashBytes: number): ReadIndex => {
  const ends = content.length - hashBytes
  if (ends < headerBytes || content.toString("latin1", 0, 4) !== "DIRC") return unclear("it does not begin as one")
  const version = content.readUInt32BE(4)
  if (version < 2 || version > inFourth) return unclear(`its version is ${version}`)
  const count = content.readUInt32BE(8)
  const entries: Array<IndexEntry> = []
  const starts: Array<number> = []
  const shared: Array<number> = []
  let at = headerBytes
  let before: Bytes = ""
  for (let n = 0; n < count; n++) {
    if (at + 42 + hashBytes > ends) return unclear("it ends too early")
    const next = entryAt(content, at, version, hashBytes, before)
    starts.push(at)
    shared.push(next.shared)
    entries.push(next.entry)
    before = next.entry.path
    at = next.end
    if (at > ends) return unclear("it ends too early")
  }
  const extensions = extensionsOf(content, at, ends)
  requireSameEnd(content, at, hashBytes)
  for (const { content: table, name } of extensions) if (name === "IEOT") requireSameTable(table, starts, shared)
  const links = extensions.filter(({ name }) => name === "link")
  if (links.length > 1) return unclear("it goes on in several files")
  const link = links[0]?.content.subarray(0, hashBytes)
  if (link === undefined || link.every((byte) => byte === 0)) return { entries }
  return { entries, link: link.toString("hex") }
}

/** `hashBytes`: 20, or 32 where the repository's objects are named by SHA-256. Throws `UnclearIndex`. */
export const readIndexEntries = (content: Buffer, hashBytes: number): ReadIndex => {
  try {
    return readAll(content, hashBytes)
  } catch (error) {
    if (error instanceof RangeError) return unclear("it ends too early")
    throw error
  }
}

/** An entry inside of what is itself a link or a submodule. */
const isBelowAnother = (path: Bytes, tops: ReadonlySet<Bytes>): boolean => {
  for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1))
    if (tops.has(path.slice(0, at))) return true
  return false
}

const linkMode = 0o120000
const submoduleMode = 0o160000

/** The paths that git would not have made entries of. `base`: the entries of the file to which a split index links. */
export const refusedEntries = (
  { entries, link }: ReadIndex,
  base: ReadonlyArray<IndexEntry> = []
): ReadonlyArray<Bytes> => {
  const replacing = link === undefined ? [] : entries.filter(({ path }) => path === "")
  const modes = new Set(replacing.map(({ mode }) => mode))
  const named = [...base, ...entries.filter(({ path }) => link === undefined || path !== "")]
  const isTop = ({ mode, stage }: IndexEntry) => stage === 0 && (mode === linkMode || mode === submoduleMode)
  // What the other file has may be gone by now.
  const tops = new Set(entries.filter(isTop).map(({ path }) => path))
  const isRefused = ({ mode, path, stage }: IndexEntry) =>
    isRefusedPath(path, mode) || (tops.size > 0 && stage === 0 && isBelowAnother(path, tops))
  // One of the other file may have been made a link or a submodule.
  const mayBe = (path: Bytes) => [...modes].some((mode) => isRefusedPath(path, mode))
  return [...new Set([...named.filter(isRefused), ...base.filter(({ path }) => mayBe(path))].map(({ path }) => path))]
}
