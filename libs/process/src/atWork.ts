/** What a program does that has not ended in time. */
import { readdir, readlink, stat } from "node:fs/promises"
import { join } from "node:path"
import { workedMsOf } from "./identity.ts"

export interface AtWork {
  /** How long it had a processor; undefined: the system does not tell. */
  readonly workedMs: number | undefined
  /** The largest file that it has open, if that has more than 16 MB. */
  readonly reads: { readonly path: string; readonly sizeBytes: number } | undefined
}

const mostOpen = 256
/** A smaller file keeps nobody. */
const leastBytes = 16 * 1024 * 1024

const openFiles = async (pid: number): Promise<ReadonlyArray<NonNullable<AtWork["reads"]>>> => {
  const folder = `/proc/${pid}/fd`
  const numbers = await readdir(folder).catch(() => [])
  const found = numbers.slice(0, mostOpen).map(async (number) => {
    const at = join(folder, number)
    const file = await stat(at).catch(() => undefined)
    const path = file?.isFile() === true ? await readlink(at).catch(() => undefined) : undefined
    return path === undefined || file === undefined || file.size < leastBytes ? [] : [{ path, sizeBytes: file.size }]
  })
  return (await Promise.all(found)).flat()
}

export const atWork = async (pid: number): Promise<AtWork> => {
  const [workedMs, open] = await Promise.all([workedMsOf(pid), openFiles(pid)])
  return { workedMs, reads: open.toSorted((one, other) => other.sizeBytes - one.sizeBytes)[0] }
}
