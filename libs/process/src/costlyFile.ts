/** What may be why git takes too long, or too much memory. Looked for only after git was ended. */
import { lstat } from "node:fs/promises"
import { entriesForGit } from "./entriesForGit.ts"
import { readForeignText } from "./foreignFile.ts"

const leastBytes = 512 * 1024 * 1024

const ofPatterns: ReadonlySet<string> = new Set([
  ".gitignore",
  ".gitattributes",
  "exclude",
  "attributes",
  "sparse-checkout"
])
const largestPatterns = 1024 * 1024

/** git tries every way to spread a name over the asterisks of a pattern: their number is the exponent. */
const mostAsterisks = 6

/** The first line that takes git too long to compare with names, from 1 on; undefined: none does. Pure. */
export const costlyLine = (text: string): number | undefined => {
  const at = text.split("\n").findIndex((line) => (line.match(/\*+/g) ?? []).length > mostAsterisks)
  return at < 0 ? undefined : at + 1
}

export interface CostlyFile {
  readonly path: string
  /** The predicate of a sentence. */
  readonly what: string
}

/**
 * A file whose patterns take git too long, or else the largest file of a working tree; undefined: nothing there is out of the
 * ordinary.
 */
export const costlyFile = async (directory: string, signal?: AbortSignal): Promise<CostlyFile | undefined> => {
  let largest = { path: "", size: leastBytes }
  for await (const { entry, isGits, path } of entriesForGit(directory, signal)) {
    if (signal?.aborted === true) break
    if (!entry.isFile()) continue
    if (ofPatterns.has(entry.name)) {
      const text = await readForeignText(path, { largestBytes: largestPatterns, follow: false }).catch(() => undefined)
      const line = costlyLine(text ?? "")
      if (line !== undefined) return { path, what: `has more asterisks in line ${line} than git can try` }
    }
    const { size } = isGits ? { size: 0 } : await lstat(path).catch(() => ({ size: 0 }))
    if (size > largest.size) largest = { path, size }
  }
  return largest.path === "" ? undefined : { path: largest.path, what: `has ${largest.size} bytes` }
}
