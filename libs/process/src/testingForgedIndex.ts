/** An index as a command can write it, with entries that git never makes. */
import { createHash } from "node:crypto"

export interface ForgedEntry {
  readonly path: string
  /** As `100644`. */
  readonly mode: string
  readonly hash: string
  /** `git status` says nothing about it: to be added later, and assumed to be unchanged. */
  readonly isHidden?: true
}

const compare = (one: ForgedEntry, other: ForgedEntry) => Buffer.compare(Buffer.from(one.path), Buffer.from(other.path))

const varint = (value: number): Buffer => {
  const bytes = [value & 0x7f]
  for (let rest = value >> 7; rest > 0; rest >>= 7) bytes.unshift(0x80 | (--rest & 0x7f))
  return Buffer.from(bytes)
}

export type IndexVersion = 2 | 3 | 4

/** What git reads in entries of this version: the third has more flags, the fourth paths that begin as those before. */
const entryBytes = (entry: ForgedEntry, before: Buffer, version: IndexVersion): Buffer => {
  const path = Buffer.from(entry.path)
  const numbers = Buffer.alloc(40)
  numbers.writeUInt32BE(Number.parseInt(entry.mode, 8), 24)
  const isExtended = entry.isHidden === true && version > 2
  const flags = Buffer.alloc(isExtended ? 4 : 2)
  flags.writeUInt16BE(Math.min(path.length, 0xfff) | (isExtended ? 0x4000 : 0) | (entry.isHidden === true ? 0x8000 : 0))
  if (isExtended) flags.writeUInt16BE(0x2000, 2)
  const fixed = Buffer.concat([numbers, Buffer.from(entry.hash, "hex"), flags])
  if (version !== 4) return Buffer.concat([fixed, path, Buffer.alloc(8 - ((fixed.length + path.length) % 8))])
  let same = 0
  while (same < Math.min(before.length, path.length) && before[same] === path[same]) same += 1
  return Buffer.concat([fixed, varint(before.length - same), path.subarray(same), Buffer.alloc(1)])
}

export const withChecksum = (body: Buffer): Buffer => Buffer.concat([body, createHash("sha1").update(body).digest()])

/** `extensions`: as they stand in the file. */
export const forgedIndex = (
  entries: ReadonlyArray<ForgedEntry>,
  version: IndexVersion = 3,
  extensions: Buffer = Buffer.alloc(0)
): Buffer => {
  const head = Buffer.from("DIRC\0\0\0\0\0\0\0\0", "latin1")
  head.writeUInt32BE(version, 4)
  head.writeUInt32BE(entries.length, 8)
  let before: Buffer = Buffer.alloc(0)
  const written = entries.toSorted(compare).map((entry) => {
    const bytes = entryBytes(entry, before, version)
    before = Buffer.from(entry.path)
    return bytes
  })
  return withChecksum(Buffer.concat([head, ...written, extensions]))
}
