/** What tells one content of a file from any other. Reads only. */
import { createHash } from "node:crypto"
import { stat } from "node:fs/promises"
import { readForeignFile } from "@reprise/process"

const largestBytes = 1024 * 1024

/** A digest; of a file that is too large, or none, which file it is and when it changed. */
export const contentOf = async (path: string): Promise<string> => {
  try {
    const content = await readForeignFile(path, { largestBytes, follow: false })
    return content === undefined ? "" : createHash("sha256").update(content).digest("hex")
  } catch {
    const found = await stat(path, { bigint: true }).catch(() => undefined)
    return found === undefined ? "" : [found.dev, found.ino, found.size, found.ctimeNs].join(" ")
  }
}
