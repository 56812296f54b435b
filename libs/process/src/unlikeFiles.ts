/**
 * Which files of a working tree are not, byte for byte, what a commit has. Each is read each time: no time tells that a file was
 * not changed. On ext4 and XFS a command can exchange the blocks of a file, and on tmpfs write into it through memory, and all times
 * stay as they were (docs/design/workspace.md#what-gates-run-on).
 */
import { lstat, type Stats } from "node:fs"
import { readlink } from "node:fs/promises"
import { Effect } from "effect"
import { hashOfBlob } from "./blobHash.ts"
import type { Commit, CommittedEntry } from "./committedEntries.ts"
import { bytesOfPath, contentHashes } from "./contentHashes.ts"
import { inGroups } from "./files.ts"
import { placeOf } from "./folderEntries.ts"
import { isGits, onDisk } from "./ownIndex.ts"
import { asBytes, type Bytes, foldersOf } from "./pathBytes.ts"
import type { GitOptions } from "./runGit.ts"

/** A file of a commit of which the tree has something else, or the same with other rights. */
export interface UnlikeFile extends CommittedEntry {
  /** Of what is there; undefined: nothing, or no plain file. */
  readonly size?: number
  /** The hash of its content, where it was read. */
  readonly content?: string
}

/** A file up to this size is simply read. */
export const largeBytes = 64 * 1024 * 1024

/** Half as long as by a promise of Node's, which counts where there are many. */
const statAt = (place: Buffer) =>
  new Promise<Stats | undefined>((resolve) => lstat(place, (_, found?: Stats) => resolve(found)))

/** Folders that are none, or links: what lies behind a link is not a file of the tree. Their names end in a slash. */
const oddFolders = async (directory: Bytes, paths: ReadonlyArray<Bytes>): Promise<ReadonlySet<Bytes>> => {
  const folders = [...foldersOf(paths)].filter((folder) => folder !== "")
  const found = await inGroups(folders, (folder) => statAt(placeOf(directory, folder.slice(0, -1))))
  return new Set(folders.filter((_, at) => found[at]?.isDirectory() !== true))
}

const isBelow = (path: Bytes, folders: ReadonlySet<Bytes>): boolean => {
  for (let end = path.lastIndexOf("/"); end !== -1; end = path.lastIndexOf("/", end - 1)) {
    if (folders.has(path.slice(0, end + 1))) return true
  }
  return false
}

const isExecutable = ({ mode }: { readonly mode: number }) => (mode & 0o100) !== 0

/** Whether the tree has a file as git would make it there, whatever its content. */
const isOfKind = (found: Stats | undefined, { mode }: CommittedEntry): found is Stats => {
  if (found === undefined) return false
  return mode === "120000" ? found.isSymbolicLink() : found.isFile() && isExecutable(found) === (mode === "100755")
}

const isPlain = ({ mode }: CommittedEntry) => mode !== "120000"

/** Those of a commit's files, but for its submodules, that the tree has otherwise or not at all. */
export const unlikeFiles = Effect.fn("unlikeFiles")(function* (
  directory: string,
  { entries }: Commit,
  options: GitOptions
) {
  const files = entries.filter(({ type }) => type === "blob")
  const top = asBytes(directory)
  const { found, odd } = yield* onDisk(async () => ({
    odd: await oddFolders(top, files.map(bytesOfPath)),
    found: await inGroups(files, (file) => statAt(placeOf(top, bytesOfPath(file))))
  }))
  const looked = files.map((file, at) => ({
    file,
    found: odd.size > 0 && isBelow(bytesOfPath(file), odd) ? undefined : found[at]
  }))
  const readable = looked.flatMap((one) =>
    one.found?.isFile() === true && isPlain(one.file) && one.found.size <= largeBytes ? [one.file] : []
  )
  // One that git cannot open has it read none; then it is asked about each in another way.
  const hashes = yield* contentHashes(directory, ".", readable, options).pipe(
    Effect.catchIf(isGits, () => Effect.succeed(new Map<CommittedEntry, string | undefined>()))
  )
  const targets = yield* onDisk(() =>
    inGroups(
      looked.filter((one) => !isPlain(one.file) && one.found?.isSymbolicLink() === true),
      async ({ file }) => {
        const target = await readlink(placeOf(top, bytesOfPath(file)), "buffer").catch(() => undefined)
        return [file, target && hashOfBlob(target, file.hash)] as const
      }
    )
  )
  const contents = new Map([...hashes, ...targets])
  return looked.flatMap(({ file, found }): ReadonlyArray<UnlikeFile> => {
    const content = contents.get(file)
    if (content === file.hash && isOfKind(found, file)) return []
    const size = found?.isFile() === true ? { size: found.size } : {}
    return [{ ...file, ...size, ...(content === undefined ? {} : { content }) }]
  })
})
