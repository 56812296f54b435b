/** Texts as a commit has them. */
import { posix } from "node:path"
import { Effect } from "effect"
import { type CommittedEntry, readCommit } from "./committedEntries.ts"
import { insistBytes } from "./ownIndex.ts"
import { asBuffer } from "./pathBytes.ts"
import type { GitOptions } from "./runGit.ts"

/** Whoever has more of them gets these. */
const mostFiles = 200
const largestBytes = 1024 * 1024

/**
 * The texts of a commit (whole hash) at the wanted paths, by path (relative to the top, with `/`). Left out is what is larger than
 * 1 MiB or is not UTF-8. A link counts as the file beside it that it names.
 */
export const committedTexts = Effect.fn("committedTexts")(function* (
  directory: string,
  commit: string,
  isWanted: (path: string) => boolean,
  options: GitOptions = {}
) {
  const { entries } = yield* readCommit(directory, commit, options)
  const wanted = entries
    .filter(({ bytes, path, type }) => type === "blob" && bytes === undefined && isWanted(path))
    .slice(0, mostFiles)
  if (wanted.length === 0) return new Map<string, string>()
  const read = Effect.fnUntraced(function* ({ hash, mode, path }: CommittedEntry) {
    const { bytes } = yield* insistBytes(directory, ["cat-file", "blob", hash], options)
    const content = asBuffer(bytes)
    if (content.length > largestBytes) return []
    const text = content.toString("utf8")
    return Buffer.from(text).equals(content) ? [{ path, text, isLink: mode === "120000" }] : []
  })
  const found = (yield* Effect.forEach(wanted, read)).flat()
  const files = new Map(found.flatMap(({ isLink, path, text }) => (isLink ? [] : [[path, text] as const])))
  const linked = found.flatMap(({ isLink, path, text }) => {
    const target = posix.join(posix.dirname(path), text)
    const behind = posix.dirname(target) === posix.dirname(path) ? files.get(target) : undefined
    return isLink && behind !== undefined ? [[path, behind] as const] : []
  })
  return new Map([...files, ...linked])
})
