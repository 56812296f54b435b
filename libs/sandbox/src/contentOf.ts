/** What tells one content of a file from any other. Reads only. */
import { stat } from "node:fs/promises"
import { readForeignFile } from "@reprise/process"

const largestBytes = 1024 * 1024

/** The text; of a file that is too large, or none, which file it is and when it changed. */
export const contentOf = async (path: string): Promise<string> => {
  try {
    return String(await readForeignFile(path, { largestBytes, follow: false }))
  } catch {
    const found = await stat(path, { bigint: true }).catch(() => undefined)
    return found === undefined ? "" : [found.dev, found.ino, found.size, found.ctimeNs].join(" ")
  }
}
