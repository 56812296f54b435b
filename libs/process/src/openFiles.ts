/** What a program has open that has not ended in time. */
import { readdir, readlink, stat } from "node:fs/promises"
import { join } from "node:path"

export interface OpenFile {
  readonly path: string
  readonly sizeBytes: number
}

const mostOpen = 256
/** A smaller file keeps nobody. */
const leastBytes = 16 * 1024 * 1024

const openFiles = async (pid: number): Promise<ReadonlyArray<OpenFile>> => {
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

/** The largest file that a program has open, if that has more than 16 MB; undefined also where the system does not tell. */
export const largestOpenFile = async (pid: number): Promise<OpenFile | undefined> =>
  (await openFiles(pid)).toSorted((one, other) => other.sizeBytes - one.sizeBytes)[0]
