/**
 * What was found out about the objects of a store, so that only what is new or changed is hashed again. It counts only together
 * with the files that were read, and only where a file system tells of each change. Without the record nothing is lost but time.
 */
import { lstat, statfs, utimes, writeFile } from "node:fs/promises"
import { dirname } from "node:path"
import { Schema } from "effect"
import { readForeignText } from "./foreignFile.ts"

export interface Proven {
  /** The packs, as their `id`, in each of which all of these objects were looked for. */
  readonly sources: ReadonlySet<string>
  /** Objects that one of these packs has as their names say; none has them otherwise. */
  readonly packed: ReadonlySet<string>
  /** Of objects with files of their own: the states of those that hold what their names say. */
  readonly loose: ReadonlyMap<string, ReadonlyArray<string>>
}

export const nothingProven: Proven = { sources: new Set(), packed: new Set(), loose: new Map() }

const Record = Schema.fromJsonString(
  Schema.Struct({ sources: Schema.Array(Schema.String), packed: Schema.String, loose: Schema.String })
)
const decode = Schema.decodeUnknownOption(Record)

/** A tree with more files is hashed in part each time. */
const mostObjects = 500_000

const largestBytes = 256 * 1024 * 1024

const hashPattern = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/

const isHash = (text: string) => hashPattern.test(text)

/** Pure. Of a text that is damaged nothing is believed. */
export const readProven = (text: string | undefined): Proven => {
  const record = decode(text)
  if (record._tag === "None") return nothingProven
  const { loose, packed, sources } = record.value
  const lines = loose.split("\n").map((line) => line.split(" "))
  return {
    sources: new Set(sources),
    packed: new Set(packed.split("\n").filter(isHash)),
    loose: new Map(lines.flatMap(([hash = "", ...states]) => (isHash(hash) ? [[hash, states] as const] : [])))
  }
}

/** Pure. */
export const writeProven = ({ loose, packed, sources }: Proven): string =>
  JSON.stringify({
    sources: [...sources],
    packed: [...packed].slice(0, mostObjects).join("\n"),
    loose: [...loose]
      .slice(0, mostObjects)
      .map(([hash, states]) => [hash, ...states].join(" "))
      .join("\n")
  })

/**
 * What is remembered after a look, of what was known before it and what was found. Pure. What was not asked about now was not
 * looked for in a pack that is new; so it stays only where none is.
 */
export const remembered = (before: Proven, found: Proven): Proven => {
  const isSame = found.sources.size === before.sources.size && [...found.sources].every((id) => before.sources.has(id))
  if (!isSame) return found
  if (before.packed.size + found.packed.size > mostObjects || before.loose.size + found.loose.size > mostObjects)
    return found
  return {
    sources: found.sources,
    packed: new Set([...before.packed, ...found.packed]),
    loose: new Map([...before.loose, ...found.loose])
  }
}

/**
 * File systems of Linux on which nobody gives a file other content, unless its time of change tells: ext4 and btrfs. On tmpfs one who
 * writes through memory changes no time, on XFS one who exchanges what two files hold; on ext4 such an exchange leaves zeros, which
 * are not an object of git's.
 */
const telling: ReadonlySet<number> = new Set([0xef53, 0x9123683e])

/** Whether the file system of a folder tells of each change of a file by its time of change. */
export const tellsChanges = async (folder: string): Promise<boolean> =>
  process.platform !== "linux" || telling.has((await statfs(folder)).type)

/** The clock of the file system on which a record is, by which a file's change of now is told. */
export interface DiskClock {
  readonly device: bigint
  readonly nowMs: number
  readonly tellsChanges: boolean
}

export const readClock = async (file: string): Promise<DiskClock> => {
  const path = `${file}.clock`
  await writeFile(path, "", { mode: 0o600 })
  const now = new Date()
  await utimes(path, now, now)
  const { ctimeMs, dev } = await lstat(path, { bigint: true })
  return { device: dev, nowMs: Number(ctimeMs), tellsChanges: await tellsChanges(dirname(path)) }
}

/** A file system tells times in steps of up to two seconds: a later change may bear the time of one that is as new. */
const clockStepMs = 2_000

/** Whether any later change of a file will show. Of another disk nobody knows the clock. Pure. */
export const isSettled = (
  { device, nowMs, tellsChanges: isTelling }: DiskClock,
  file: { readonly changedMs: number; readonly devices: ReadonlyArray<bigint> }
): boolean => isTelling && file.changedMs < nowMs - clockStepMs && file.devices.every((one) => one === device)

/** The text of a record; undefined: there is none that can be read. */
export const recall = (file: string): Promise<string | undefined> =>
  readForeignText(file, { largestBytes, follow: false }).catch(() => undefined)
