/**
 * Changes of files that git was told not to look at. Whoever may write the index can set these flags, and `git status` says
 * nothing about the files then (docs/security.md#the-sandbox).
 */
import type { Stats } from "node:fs"
import { lstat, readlink } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import { hashOfBlob } from "./blobHash.ts"
import { type GitOptions, runGit } from "./runGit.ts"
import type { ProgramFailed } from "./runProgram.ts"

/** `skipped`: git takes the file for one that is not checked out; `assumed`: for unchanged. */
interface Flagged {
  readonly path: string
  readonly skipped: boolean
  readonly assumed: boolean
}

/** The records of `git ls-files -v -z` with a flag: git writes the letter of those that are assumed unchanged small. */
export const readFlagged = (listed: string): ReadonlyArray<Flagged> =>
  listed.split("\0").flatMap((record) => {
    const [, tag, path] = /^([a-zS]) (.+)$/s.exec(record) ?? []
    return tag === undefined || path === undefined
      ? []
      : [{ path, skipped: tag.toUpperCase() === "S", assumed: tag !== "S" }]
  })

interface Entry {
  readonly mode: string
  readonly hash: string
}

/** The records of `git ls-files --stage -z`, by path. */
const readEntries = (listed: string): ReadonlyMap<string, Entry> =>
  new Map(
    listed.split("\0").flatMap((record) => {
      const [, mode, hash, path] = /^(\d+) ([0-9a-f]+) \d\t(.+)$/s.exec(record) ?? []
      return mode === undefined || hash === undefined || path === undefined ? [] : [[path, { mode, hash }] as const]
    })
  )

/** Whether git takes each file that it checks out for unchanged, as its user has told it. */
const assumesAll = (directory: string, options: GitOptions) =>
  Effect.map(
    runGit(directory, ["config", "--type=bool", "core.ignoreStat"], options),
    ({ stdout }) => stdout.trim() === "true"
  )

/** The predicate of a sentence about one of `unwatchedFiles`. */
export const unwatched =
  "is flagged in the index, so that git would not see what a quality gate changes in it: take the flag off with 'git update-index --no-assume-unchanged' and '--no-skip-worktree'"

/**
 * Flagged files of which git would not see a change that comes later, as by a generator in a quality gate: all that are flagged, but
 * for what a sparse checkout has left out. There git sees a file that is there all the same.
 */
export const unwatchedFiles = Effect.fn("unwatchedFiles")(function* (
  directory: string,
  options: GitOptions = {}
): Effect.fn.Return<ReadonlyArray<string>, ProgramFailed> {
  const flagged = readFlagged((yield* runGit(directory, ["ls-files", "-v", "-z"], options)).stdout)
  if (flagged.length === 0) return []
  const wanted = yield* runGit(directory, ["config", "--type=bool", "core.sparseCheckout"], options)
  const sparse = wanted.stdout.trim() === "true"
  const isUsers = yield* assumesAll(directory, options)
  return flagged.flatMap(({ assumed, path, skipped }) => ((assumed ? !isUsers : skipped && !sparse) ? [path] : []))
})

const beginsQuoted = (path: string) => path.startsWith('"')

const modeOf = (found: Stats): string => {
  if (found.isSymbolicLink()) return "120000"
  return (found.mode & 0o100) === 0 ? "100644" : "100755"
}

const hashOfLink = async (path: string, like: string): Promise<string> =>
  hashOfBlob(await readlink(path, "buffer"), like)

/** Undefined: only its content can tell. A submodule that has a flag counts as changed: nobody has a reason for one. */
const isChangedAtSight = (directory: string, { path, skipped }: Flagged, entry: Entry | undefined, sparse: boolean) =>
  Effect.promise(async (): Promise<boolean | undefined> => {
    const place = join(directory, path)
    const found = await lstat(place).catch(() => undefined)
    if (found === undefined) return !(skipped && sparse)
    // A path with a line break cannot be asked about, and one that is not UTF-8 is not found above.
    if (entry === undefined || entry.mode !== modeOf(found) || path.includes("\n")) return true
    if (found.isSymbolicLink()) return (await hashOfLink(place, entry.hash).catch(() => "")) !== entry.hash
    return found.isFile() ? undefined : true
  })

/** What git would commit, by path; one that it cannot read is missing. */
const hashesOf = Effect.fnUntraced(function* (directory: string, paths: ReadonlyArray<string>, options: GitOptions) {
  // A line that begins with a quote git takes for another path, which is quoted.
  const [quoted, plain] = [paths.filter(beginsQuoted), paths.filter((path) => !beginsQuoted(path))]
  const input = plain.map((path) => `${path}\n`).join("")
  const hashed = yield* runGit(directory, ["hash-object", "--stdin-paths"], { ...options, input })
  const hashes = hashed.exitCode === 0 ? hashed.stdout.split("\n") : []
  const found = new Map(plain.map((path, at) => [path, hashes[at]]))
  for (const path of quoted) {
    const { exitCode, stdout } = yield* runGit(directory, ["hash-object", "--", path], options)
    if (exitCode === 0) found.set(path, stdout.trim())
  }
  return found
})

/**
 * The flagged files of a working tree whose content, kind or existence is not that of the index; those that a sparse checkout
 * left out are not missing.
 */
export const changedFlaggedFiles = Effect.fn("changedFlaggedFiles")(function* (
  directory: string,
  options: GitOptions = {}
): Effect.fn.Return<ReadonlyArray<string>, ProgramFailed> {
  const flagged = readFlagged((yield* runGit(directory, ["ls-files", "-v", "-z"], options)).stdout)
  // Few repositories have any, and all are looked at often.
  if (flagged.length === 0) return []
  const entries = readEntries((yield* runGit(directory, ["ls-files", "--stage", "-z"], options)).stdout)
  const wanted = yield* runGit(directory, ["config", "--type=bool", "core.sparseCheckout"], options)
  const sparse = wanted.stdout.trim() === "true"
  const changed: Array<string> = []
  const unclear: Array<string> = []
  for (const file of flagged) {
    const seen = yield* isChangedAtSight(directory, file, entries.get(file.path), sparse)
    if (seen === undefined) unclear.push(file.path)
    else if (seen) changed.push(file.path)
  }
  if (unclear.length === 0) return changed
  const hashes = yield* hashesOf(directory, unclear, options)
  return [...changed, ...unclear.filter((path) => hashes.get(path) !== entries.get(path)?.hash)]
})
