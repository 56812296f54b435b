/** What tells one content of a file or a folder from any other. Reads only. */
import { createHash } from "node:crypto"
import { lstat, readlink, stat } from "node:fs/promises"
import { join } from "node:path"
import { hasCode, readForeignFile, readForeignFolder } from "@reprise/process"
import { costOf, type Spend, unlimited } from "../nested/lookLimits.ts"

const largestBytes = 1024 * 1024

/** A digest; of a file that is too large, or none, which file it is and when it changed. */
export const contentOf = async (path: string, spend: Spend = unlimited): Promise<string> => {
  spend(costOf(path.length))
  const content = await readForeignFile(path, { largestBytes, follow: false }).catch(() => "unread" as const)
  if (content === undefined) return ""
  if (content !== "unread") {
    spend(costOf(content.length) - 1)
    return createHash("sha256").update(content).digest("hex")
  }
  const found = await stat(path, { bigint: true }).catch(() => undefined)
  return found === undefined ? "" : [found.dev, found.ino, found.size, found.ctimeNs].join(" ")
}

/** One after the other: a command chooses how many there are. */
export const contentsOf = async (paths: ReadonlyArray<string>, spend: Spend): Promise<ReadonlyArray<string>> => {
  const contents: Array<string> = []
  for (const path of paths) contents.push(await contentOf(path, spend))
  return contents
}

/** Entries of one folder: what a look may cost ends before. */
export const mostListed = 100_000

/** The entries of a folder; undefined: they cannot be listed. Rejected where there are more than can be compared. */
export const listedIn = (folder: string) =>
  readForeignFolder(folder, { mostEntries: mostListed }).catch((error) =>
    hasCode(error, "ETOOMANY") ? Promise.reject(error) : undefined
  )

/** Changes with every file below a folder; links are told by where they lead. */
export const contentsBelow = async (path: string, spend: Spend): Promise<ReadonlyArray<string>> => {
  const contents: Array<string> = []
  const look = async (at: string): Promise<void> => {
    const found = await lstat(at).catch(() => undefined)
    if (found === undefined) return
    if (!found.isDirectory()) {
      const isLink = found.isSymbolicLink()
      if (isLink) spend(costOf(at.length))
      contents.push(isLink ? `${at} -> ${await readlink(at).catch(() => "")}` : `${at} ${await contentOf(at, spend)}`)
      return
    }
    spend(costOf(at.length))
    const entries = await listedIn(at)
    contents.push(entries === undefined ? `${at} cannot be read ${found.ctimeMs}` : at)
    for (const name of (entries ?? []).map((entry) => entry.name).toSorted()) await look(join(at, name))
  }
  await look(path)
  return contents
}
