/** Texts as a commit has them, each proven: what git shows of an object is whatever lies by its name (`falseObjects.ts`). */
import { posix } from "node:path"
import { Effect } from "effect"
import { hashOfBlob } from "./blobHash.ts"
import { type CommittedEntry, readCommit } from "./committedEntries.ts"
import { falseObjects } from "./falseObjects.ts"
import { insist, insistBytes } from "./ownIndex.ts"
import { asBuffer } from "./pathBytes.ts"
import type { GitOptions } from "./runGit.ts"

/** Whoever has more of them gets these. */
const mostFiles = 200
const largestBytes = 1024 * 1024

const foldersAbove = (path: string): ReadonlyArray<string> => {
  const folder = posix.dirname(path)
  return folder === "." ? [] : [folder, ...foldersAbove(folder)]
}

/**
 * The texts of a commit (whole hash) at the wanted paths, by path (relative to the top, with `/`). Left out is what is larger than
 * 1 MiB, is not UTF-8, or is not what the commit's name stands for. A link counts as the file beside it that it names.
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
  const root = (yield* insist(directory, ["rev-parse", `${commit}^{tree}`], options)).trim()
  const above = new Set(wanted.flatMap(({ path }) => foldersAbove(path)))
  const folders = entries.filter(({ path, type }) => type === "tree" && above.has(path))
  const hashes = [commit, root, ...folders.map(({ hash }) => hash)]
  const { missing, wrong } = yield* falseObjects(directory, hashes, options)
  const lies = new Set([...missing, ...wrong])
  if (lies.has(commit) || lies.has(root)) return new Map<string, string>()
  const doubtful = new Set(folders.flatMap(({ hash, path }) => (lies.has(hash) ? [path] : [])))
  const sound = wanted.filter(({ path }) => !foldersAbove(path).some((folder) => doubtful.has(folder)))
  const read = Effect.fnUntraced(function* ({ hash, mode, path }: CommittedEntry) {
    const { bytes } = yield* insistBytes(directory, ["cat-file", "blob", hash], options)
    const content = asBuffer(bytes)
    if (hashOfBlob(content, hash) !== hash || content.length > largestBytes) return []
    const text = content.toString("utf8")
    return Buffer.from(text).equals(content) ? [{ path, text, isLink: mode === "120000" }] : []
  })
  const found = (yield* Effect.forEach(sound, read)).flat()
  const files = new Map(found.flatMap(({ isLink, path, text }) => (isLink ? [] : [[path, text] as const])))
  const linked = found.flatMap(({ isLink, path, text }) => {
    const target = posix.join(posix.dirname(path), text)
    const behind = posix.dirname(target) === posix.dirname(path) ? files.get(target) : undefined
    return isLink && behind !== undefined ? [[path, behind] as const] : []
  })
  return new Map([...files, ...linked])
})
