/** The embedded server's log: kept small, and read back when a start fails. */
import { open, readdir, rm, stat } from "node:fs/promises"
import { basename, dirname, join } from "node:path"

const keptOldFiles = 2
const tailBytes = 16 * 1024

/** The log's current size; 0 when there is none. */
export const logSize = (log: string): Promise<number> =>
  stat(log).then(
    ({ size }) => size,
    () => 0
  )

/** Servers before 2.10 rotate their log but never remove old files. The names end in a time, so they sort by age. */
export const removeOldLogs = async (log: string): Promise<void> => {
  const names = await readdir(dirname(log))
  const old = names.filter((name) => name.startsWith(`${basename(log)}.`)).sort()
  for (const name of old.slice(0, Math.max(0, old.length - keptOldFiles))) {
    await rm(join(dirname(log), name), { force: true })
  }
}

/** The last lines that were logged after `offset`. */
export const lastLines = async (log: string, offset: number, count = 8): Promise<ReadonlyArray<string>> => {
  const size = await logSize(log)
  const from = Math.max(size < offset ? 0 : offset, size - tailBytes)
  if (size <= from) return []
  const file = await open(log)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from)
    const lines = buffer.subarray(0, bytesRead).toString("utf8").split("\n")
    return lines.filter((line) => line.trim() !== "").slice(-count)
  } finally {
    await file.close()
  }
}
