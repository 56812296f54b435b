/** Files that say how git reads others: they must be those of the commit, since by others, files are the same that are not. */
import { readlink } from "node:fs/promises"
import { join, posix } from "node:path"
import { Effect } from "effect"
import { hashOfBlob } from "./blobHash.ts"
import type { Commit, CommittedEntry } from "./committedEntries.ts"
import { hasCode } from "./files.ts"
import { readForeignFile } from "./foreignFile.ts"
import { asBuffer, asBytes } from "./pathBytes.ts"

export const isAttributes = (path: string) => posix.basename(path) === ".gitattributes"

const isLink = ({ mode }: CommittedEntry) => mode === "120000"

/** git takes ten times more; nobody has so much. */
const largestBytes = 10 * 1024 * 1024

/** In 100 000 folders they are read in 4 s, one by one in 31 s. */
const atOnce = { concurrency: 16 }

const differs = "differs from what the commit holds"
const isTooLarge = "has more than 10 MB, which is more than Reprise reads of attributes: make it smaller"

/** git follows no link of this name, but reads where it leads as attributes, from the index. */
const linkDifference = async (path: string | Buffer, hash: string) => {
  const target = await readlink(path, "buffer").catch((error) =>
    hasCode(error, "ENOENT", "ENOTDIR") ? undefined : ("none" as const)
  )
  if (target === undefined) return undefined
  return target !== "none" && hashOfBlob(target, hash) === hash ? undefined : differs
}

/** Byte for byte, but for the ends of lines, which say nothing to git. */
const fileDifference = async (path: string | Buffer, hash: string) => {
  const content = await readForeignFile(path, { largestBytes, follow: false }).catch((error) =>
    hasCode(error, "EFBIG") ? ("large" as const) : ("unreadable" as const)
  )
  if (content === undefined) return undefined
  if (content === "large") return isTooLarge
  if (content === "unreadable") return differs
  if (hashOfBlob(content, hash) === hash) return undefined
  const unified = Buffer.from(content.toString("latin1").replaceAll("\r\n", "\n"), "latin1")
  return hashOfBlob(unified, hash) === hash ? undefined : differs
}

/** Those of the commit that the tree has otherwise; one that it has not is told as any missing file is. */
export const changedAttributes = (directory: string, { entries }: Commit) =>
  Effect.map(
    Effect.forEach(
      entries.filter(({ path, type }) => type === "blob" && isAttributes(path)),
      (entry) =>
        Effect.promise(async () => {
          const { bytes, path } = entry
          const place = bytes === undefined ? join(directory, path) : asBuffer(`${asBytes(directory)}/${bytes}`)
          const why = await (isLink(entry) ? linkDifference : fileDifference)(place, entry.hash)
          return why === undefined ? [] : [{ path, why }]
        }),
      atOnce
    ),
    (found) => found.flat()
  )
