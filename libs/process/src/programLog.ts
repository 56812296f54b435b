/** The file that a program's output goes to, read back when the program does not start. */
import { open, stat } from "node:fs/promises"
import { readForeignPart } from "./foreignFile.ts"

const tailBytes = 16 * 1024

/** Its size in bytes; 0 when there is none. */
export const logSize = (log: string): Promise<number> =>
  stat(log).then(
    ({ size }) => size,
    () => 0
  )

/** The last lines, at most eight, that were written after `offset`. */
export const lastLines = async (log: string, offset: number): Promise<ReadonlyArray<string>> => {
  const size = await logSize(log)
  const from = Math.max(size < offset ? 0 : offset, size - tailBytes)
  if (size <= from) return []
  const file = await open(log)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from)
    const lines = buffer.subarray(0, bytesRead).toString("utf8").split("\n")
    return lines.filter((line) => line.trim() !== "").slice(-8)
  } finally {
    await file.close()
  }
}

const startBytes = 1024 * 1024

/** Whether the whole line is in the first mebibyte that was written after `offset`. */
export const hasPrinted = async (log: string, offset: number, line: string): Promise<boolean> => {
  const part = await readForeignPart(log, offset, { largestBytes: startBytes, follow: false })
  const lines = part?.bytes.toString("utf8").split("\n").slice(0, -1)
  return lines?.includes(line) ?? false
}
