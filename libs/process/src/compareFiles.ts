/** Compares the files of a working tree with a commit, as git would if nothing were known to it of either. */
import { randomUUID } from "node:crypto"
import { lstat, readdir, rm } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { Effect, type Scope } from "effect"
import { isAttributes } from "./committedAttributes.ts"
import type { Commit } from "./committedEntries.ts"
import { bytesOfPath } from "./contentHashes.ts"
import { insist, onDisk, ownFolder, strictly } from "./ownIndex.ts"
import { asBuffer, fieldsOf, isUnclear } from "./pathBytes.ts"
import { type GitOptions, runGit } from "./runGit.ts"
import type { ProgramFailed } from "./runProgram.ts"
import { largeBytes, type UnlikeFile, unlikeFiles } from "./unlikeFiles.ts"

/** A file that git takes for what the commit has, although it holds other bytes: ends of lines, keywords, filters. */
export interface ReadOtherwise extends UnlikeFile {
  readonly content: string
}

/** What a working tree has that is not what git takes it for, as git names it. */
export interface Compared {
  /** Paths whose content, kind or existence is not that of the commit. */
  readonly changed: ReadonlyArray<string>
  readonly readOtherwise: ReadonlyArray<ReadOtherwise>
  /**
   * Further paths that are executable, or links, and not so in the commit, or the other way round: the user's configuration may have
   * git not look at that.
   */
  readonly otherKinds: Effect.Effect<ReadonlyArray<string>, ProgramFailed>
  /** For more questions to git: an index of the commit, and names that are the same only if they are spelled alike. */
  readonly options: GitOptions
}

/** More than any encoding or end of line makes of the content that a commit has. */
const mostTimesLarger = 8

/**
 * Those of some files that are too large to hold what the commit has, so that nobody need read them: a file of a terabyte takes no
 * room on the disk. What a filter of the user's takes out of a file nobody knows.
 */
const tooLarge = Effect.fnUntraced(function* (
  directory: string,
  files: ReadonlyArray<UnlikeFile>,
  options: GitOptions
) {
  const sizes = new Map(files.flatMap(({ path, size = 0 }) => (size > largeBytes ? [[path, size] as const] : [])))
  if (sizes.size === 0) return []
  const large = [...sizes.keys()]
  const asked = large.map((path) => `${path}\0`).join("")
  const attributes = yield* insist(directory, ["check-attr", "-z", "--stdin", "filter"], { ...options, input: asked })
  const filtered = new Set<string>()
  const fields = attributes.split("\0")
  for (let at = 0; at + 2 < fields.length; at += 3) {
    if (fields[at + 2] !== "unspecified" && fields[at + 2] !== "unset") filtered.add(fields[at] ?? "")
  }
  const plain = large.filter((path) => !filtered.has(path) && !path.includes("\n") && !isUnclear(path))
  const input = plain.map((path) => `:${path}\n`).join("")
  const listed = yield* insist(directory, ["cat-file", "--batch-check=%(objectsize)"], { ...options, input })
  const committed = listed.split("\n").map(Number)
  return plain.filter((path, at) => (sizes.get(path) ?? 0) > mostTimesLarger * (committed[at] ?? 0) + largeBytes)
})

/** What a disk can tell apart, by our file on it, which is not executable and has small letters in its name. */
const diskOf = async (file: string) => {
  const inCapitals = join(dirname(file), basename(file).toUpperCase())
  const [found, other] = await Promise.all([lstat(file), lstat(inCapitals).catch(() => undefined)])
  return { keepsModes: (found.mode & 0o100) === 0, foldsCase: other !== undefined }
}

const abandonedAfterMs = 60 * 60_000

/** Of a process that was killed, or of an earlier version. `own`: a new file there, by whose clock the others are old. */
const removeAbandoned = async (folder: string, own: string): Promise<void> => {
  const now = (await lstat(own)).mtimeMs
  for (const entry of await readdir(folder)) {
    const path = join(folder, entry)
    const { mtimeMs } = (await lstat(path).catch(() => undefined)) ?? { mtimeMs: 0 }
    if (now - mtimeMs > abandonedAfterMs) await rm(path, { recursive: true, force: true })
  }
}

/** What git takes for changed of some files, which it reads through filters, ends of lines and encodings. */
const changedOf = Effect.fnUntraced(function* (
  directory: string,
  { entries }: Commit,
  files: ReadonlyArray<UnlikeFile>,
  options: GitOptions
) {
  // Where a link is in the place of attributes, git reads those of the index.
  const rules = entries.filter(({ path, type }) => type === "blob" && isAttributes(path))
  const differing = (settings: ReadonlyArray<string> = []) => {
    const args = ["diff-files", "--name-only", "-z", "--no-renames", "--ignore-submodules=all"]
    return Effect.map(insist(directory, args, { ...options, settings }), fieldsOf)
  }
  const input = asBuffer(
    [...rules, ...files].map((file) => `${file.mode} ${file.hash}\t${bytesOfPath(file)}\0`).join("")
  )
  yield* insist(directory, ["update-index", "-z", "--index-info"], { ...options, input })
  const unread = yield* tooLarge(directory, files, options)
  if (unread.length > 0) {
    const paths = unread.map((path) => `${path}\0`).join("")
    yield* insist(directory, ["update-index", "--assume-unchanged", "-z", "--stdin"], { ...options, input: paths })
  }
  yield* runGit(directory, [...strictly, "update-index", "-q", "--refresh"], options)
  return { changed: [...unread, ...(yield* differing())], differing }
})

/** Compares the files of a working tree with a commit. `folder`: of Reprise's own, for indexes. */
export const compareFiles = Effect.fn("compareFiles")(function* (
  directory: string,
  commit: Commit,
  folder: string,
  options: GitOptions
): Effect.fn.Return<Compared, ProgramFailed, Scope.Scope> {
  yield* ownFolder(folder)
  const index = join(folder, `${randomUUID()}.draft`)
  const ofUnlike = `${index}-unlike`
  yield* Effect.addFinalizer(() =>
    Effect.promise(async () => {
      for (const path of [index, ofUnlike, `${index}.lock`, `${ofUnlike}.lock`]) await rm(path, { force: true })
    })
  )
  const [, unlike] = yield* Effect.all(
    [
      insist(directory, ["read-tree", "-i", "-m", commit.hash], { ...options, index }),
      unlikeFiles(directory, commit, options)
    ],
    { concurrency: 2 }
  )
  const disk = yield* onDisk(() => diskOf(index))
  yield* onDisk(() => removeAbandoned(folder, index))
  const ours = { ...options, index, settings: disk.foldsCase ? [] : ["core.ignoreCase=false"] }
  if (unlike.length === 0) return { changed: [], readOtherwise: [], otherKinds: Effect.succeed([]), options: ours }
  const { changed, differing } = yield* changedOf(directory, commit, unlike, { ...options, index: ofUnlike })
  const isChanged = new Set(changed)
  const readOtherwise = unlike.flatMap((file): ReadonlyArray<ReadOtherwise> => {
    const { content, hash, path } = file
    return content === undefined || content === hash || isChanged.has(path) ? [] : [{ ...file, content }]
  })
  const kinds = ["core.symlinks=true", ...(disk.keepsModes ? ["core.fileMode=true"] : [])]
  const otherKinds = Effect.map(differing(kinds), (paths) => paths.filter((path) => !isChanged.has(path)))
  return { changed, readOtherwise, otherKinds, options: ours }
})
