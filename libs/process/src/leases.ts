/**
 * Leases on files, which any process may take that has the file open for itself: whoever opens it then waits until the lease is
 * given back, or 45 seconds for each file (fcntl(2), `F_SETLEASE`). Linux lists them in `/proc/locks`, those of the sandbox, too.
 */
import { lstat, readFile } from "node:fs/promises"
import { entriesForGit } from "./entriesForGit.ts"
import { ForeignFileRefused } from "./foreignFile.ts"

export interface Lease {
  /** Who has it. */
  readonly pid: number
  /** Of the file: `DEVICE:INODE`, as `fileKey` gives it. */
  readonly key: string
}

/** The upper and the lower part of a device's number, as Linux packs them. */
const majorOf = (device: bigint): bigint => ((device >> 8n) & 0xfffn) | ((device >> 32n) & ~0xfffn)
const minorOf = (device: bigint): bigint => (device & 0xffn) | ((device >> 12n) & ~0xffn & 0xffffffffn)

export const fileKey = ({ dev, ino }: { readonly dev: bigint; readonly ino: bigint }): string =>
  `${majorOf(dev)}:${minorOf(dev)}:${ino}`

const breaking = /^\d+: LEASE +BREAKING +\w+ +(\d+) +([0-9a-f]+):([0-9a-f]+):(\d+) /

/** The leases for whose end somebody waits. `locks`: the text of `/proc/locks`. */
export const awaitedLeases = (locks: string): ReadonlyArray<Lease> =>
  locks.split("\n").flatMap((line) => {
    const [found, pid, major, minor, inode] = breaking.exec(line) ?? []
    return found === undefined
      ? []
      : [{ pid: Number(pid), key: `${BigInt(`0x${major}`)}:${BigInt(`0x${minor}`)}:${inode}` }]
  })

/** The first file of git's or of the working tree for whose lease somebody waits; undefined: there is none, or no such list. */
export const leasedFile = async (directory: string, signal: AbortSignal): Promise<ForeignFileRefused | undefined> => {
  const locks = await readFile("/proc/locks", "utf8").catch(() => "")
  const leases = new Map(awaitedLeases(locks).map(({ key, pid }) => [key, pid]))
  if (leases.size === 0) return undefined
  for await (const { path } of entriesForGit(directory, signal)) {
    const found = await lstat(path, { bigint: true }).catch(() => undefined)
    const pid = found?.isFile() === true ? leases.get(fileKey(found)) : undefined
    if (pid !== undefined) {
      return new ForeignFileRefused(path, "ELEASED", `has a lease of process ${pid}, which does not give it back`)
    }
  }
  return undefined
}
