/** Copies of files that a command may have written: of files alone, through no link, and of none that only seems to be large. */
import { createHash } from "node:crypto"
import { lstat, open } from "node:fs/promises"
import { readForeignFolder, readForeignPart } from "@reprise/process"

const partBytes = 8 * 1024 * 1024
const mostEntries = 100_000

/** Names in a folder that fit. None where it is a link, or no folder. */
export const namesIn = async (folder: string, pattern: RegExp): Promise<ReadonlyArray<string>> => {
  const found = await lstat(folder).catch(() => undefined)
  const entries = found?.isDirectory() === true ? await readForeignFolder(folder, { mostEntries }) : undefined
  return (entries ?? []).map(({ name }) => name).filter((name) => pattern.test(name))
}

/** A file with holes may be larger than any disk, and is nobody's. */
const isWhole = async (path: string): Promise<boolean> => {
  const { blocks, size } = await lstat(path)
  return blocks * 512 >= size
}

/** Copies a file to a new place, and gives the SHA-256 of what was copied. Rejected where it is no file, or has holes. */
export const copyForeign = async (from: string, to: string): Promise<string> => {
  if (!(await isWhole(from))) throw new Error(`${from} has holes.`)
  const hash = createHash("sha256")
  const file = await open(to, "wx", 0o644)
  try {
    for (let offset = 0; ; ) {
      const part = await readForeignPart(from, offset, { largestBytes: partBytes, follow: false })
      if (part === undefined || part.bytes.length === 0) break
      hash.update(part.bytes)
      await file.write(part.bytes)
      offset += part.bytes.length
    }
    await file.sync()
  } finally {
    await file.close()
  }
  return hash.digest("hex")
}
