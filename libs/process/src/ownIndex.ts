/**
 * An index of Reprise's own, in a folder that no command can write. What git knows in it of a file on the disk (size, times,
 * number) was found by git itself when the file had the content of a commit, so git need not read the file again: nobody can set
 * back the time of a file's last change. The repository's own index says whatever the last command wrote into it.
 */
import { randomUUID } from "node:crypto"
import type { Stats } from "node:fs"
import { copyFile, lstat, mkdir, readdir, realpath, rename, rm } from "node:fs/promises"
import { basename, dirname, join, relative } from "node:path"
import { Effect, type Scope } from "effect"
import { hasCode } from "./files.ts"
import { type Bytes, fieldsOf, isUnclear } from "./pathBytes.ts"
import { type GitOptions, runGit } from "./runGit.ts"
import { ProgramFailed, type ProgramOutput } from "./runProgram.ts"

/** Whatever the configuration says: of a file all is compared, and all stands in the one file, which is read from its beginning to its end. */
const strictly = [
  ...["core.trustctime=true", "core.checkStat=default", "core.ignoreStat=false", "index.threads=1"],
  ...["core.splitIndex=false", "index.sparse=false", "sparse.expectFilesOutsideOfPatterns=false"]
].flatMap((one) => ["-c", one])

/** Why git did not answer what it had to. */
export class GitEnded extends Error {
  readonly operation: string
  readonly exitCode: number
  readonly stderr: string
  constructor(operation: string, exitCode: number, stderr: string) {
    super(`git ${operation} ended with ${exitCode}: ${stderr.trim().slice(0, 2000)}`)
    this.operation = operation
    this.exitCode = exitCode
    this.stderr = stderr
  }
}

const fault = (cause: unknown) => new ProgramFailed({ program: "git", reason: "fault", cause })

/** A git ended in an unexpected way. */
export const refused = (operation: string, { exitCode, stderr }: Pick<ProgramOutput, "exitCode" | "stderr">) =>
  fault(new GitEnded(operation, exitCode, stderr))

/** Work on files that fails as a git that could not be run does. */
export const onDisk = <A>(run: () => Promise<A>): Effect.Effect<A, ProgramFailed> =>
  Effect.tryPromise({ try: run, catch: fault })

/** What a git wrote that must succeed; else the cause of the failure is a `GitEnded`. */
export const insist = (directory: string, args: ReadonlyArray<string>, options: GitOptions) =>
  Effect.flatMap(runGit(directory, [...strictly, ...args], options), (done) =>
    done.exitCode === 0 ? Effect.succeed(done.stdout) : refused(args[0] ?? "git", done)
  )

/** What a git wrote, byte for byte, and how it ended. */
export const bytesOf = Effect.fnUntraced(function* (
  directory: string,
  args: ReadonlyArray<string>,
  options: GitOptions
) {
  const pieces: Array<Buffer> = []
  const { exitCode, stderr } = yield* runGit(directory, args, { ...options, take: (piece) => void pieces.push(piece) })
  return { bytes: Buffer.concat(pieces).toString("latin1") satisfies Bytes, exitCode, stderr }
})

/** The same of one that must succeed. */
export const insistBytes = (directory: string, args: ReadonlyArray<string>, options: GitOptions) =>
  Effect.flatMap(bytesOf(directory, [...strictly, ...args], options), (done) =>
    done.exitCode === 0 ? Effect.succeed(done) : refused(args[0] ?? "git", done)
  )

/** What a file has that is not what git takes it for, as git names it. */
export interface Compared {
  /** Paths whose content, kind or existence is not that of the commit. */
  readonly changed: ReadonlyArray<string>
  /** Paths without stored facts, which were read now and are as the commit has them. */
  readonly read: ReadonlyArray<string>
  /** Keeps what was found, but for some paths, which are read again the next time. */
  readonly keep: (but: ReadonlyArray<string>) => Effect.Effect<void, ProgramFailed>
  /**
   * Further paths that are executable, or links, and not so in the commit, or the other way round: the user's configuration may have
   * git not look at that.
   */
  readonly otherKinds: Effect.Effect<ReadonlyArray<string>, ProgramFailed>
  /** For more questions to git: an index of the commit, and names that are the same only if they are spelled alike. */
  readonly options: GitOptions
}

/** What is at some paths, in their order; undefined: nothing. */
export const filesAt = async (directory: string, paths: ReadonlyArray<string>) => {
  const found: Array<Stats | undefined> = []
  for (let at = 0; at < paths.length; at += 64) {
    const some = paths.slice(at, at + 64).map((path) => lstat(join(directory, path)).catch(() => undefined))
    found.push(...(await Promise.all(some)))
  }
  return found
}

/** Of those that were read, the ones that changed about then: a later change of them may bear the same time. */
const changedSince = async (directory: string, paths: ReadonlyArray<string>, sinceSeconds: number) => {
  const files = await filesAt(directory, paths)
  return paths.filter((_, at) => Math.floor((files[at]?.ctimeMs ?? Number.POSITIVE_INFINITY) / 1000) >= sinceSeconds)
}

/** A file up to this size is simply read. */
const largeBytes = 64 * 1024 * 1024

/** More than any encoding or end of line makes of the content that a commit has. */
const mostTimesLarger = 8

/**
 * Those of some files that are too large to hold what the commit has, so that nobody need read them: a file of a terabyte takes no
 * room on the disk. What a filter of the user's takes out of a file nobody knows.
 */
const tooLarge = Effect.fnUntraced(function* (directory: string, paths: ReadonlyArray<string>, options: GitOptions) {
  const sizes = new Map<string, number>()
  const files = yield* Effect.promise(() => filesAt(directory, paths))
  for (const [at, path] of paths.entries()) {
    const found = files[at]
    if (found?.isFile() === true && found.size > largeBytes) sizes.set(path, found.size)
  }
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

/** The folder, made if it is missing. No link leads there: an agent could have put it in the place. */
export const ownFolder = (folder: string) =>
  onDisk(async () => {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    // It lies in a folder of `.reprise`; what is above is the user's.
    const root = dirname(dirname(dirname(folder)))
    if ((await realpath(folder)) !== join(await realpath(root), relative(root, folder))) {
      throw new Error(`${folder} is behind a link. Put folders in the place of links.`)
    }
  })

/** Clears what an index has stored about the files at some paths. */
const forget = Effect.fnUntraced(function* (directory: string, paths: ReadonlySet<string>, options: GitOptions) {
  const entries = fieldsOf(yield* insist(directory, ["ls-files", "--stage", "-z"], options))
  const input = entries.filter((entry) => paths.has(entry.slice(entry.indexOf("\t") + 1)))
  yield* insist(directory, ["update-index", "-z", "--index-info"], {
    ...options,
    input: input.map((entry) => `${entry}\0`).join("")
  })
})

/** What a disk can tell apart, by our file on it, which is not executable and has small letters in its name. */
const diskOf = async (file: string) => {
  const inCapitals = join(dirname(file), basename(file).toUpperCase())
  const [found, other] = await Promise.all([lstat(file), lstat(inCapitals).catch(() => undefined)])
  return { keepsModes: (found.mode & 0o100) === 0, foldsCase: other !== undefined }
}

const draftSuffix = ".draft"

const abandonedAfterMs = 60 * 60_000

/** Of a process that was killed. */
const removeAbandoned = async (folder: string, name: string): Promise<void> => {
  for (const entry of await readdir(folder)) {
    const path = join(folder, entry)
    const isOld =
      entry !== name && Date.now() - ((await lstat(path).catch(() => undefined))?.mtimeMs ?? 0) > abandonedAfterMs
    if (isOld) await rm(path, { recursive: true, force: true })
  }
}

/**
 * Compares the files of a working tree with a commit. `folder`: where the index is kept. `rules`: tells by which attributes files
 * are read; what was found by others is not believed.
 */
export const compareFiles = Effect.fn("compareFiles")(function* (
  directory: string,
  commit: string,
  { folder, rules }: { readonly folder: string; readonly rules: string },
  options: GitOptions
): Effect.fn.Return<Compared, ProgramFailed, Scope.Scope> {
  yield* ownFolder(folder)
  const kept = join(folder, `index-${rules}`)
  const draft = join(folder, `${randomUUID()}${draftSuffix}`)
  const known = `${draft}-known`
  yield* Effect.addFinalizer(() =>
    Effect.promise(async () => {
      for (const path of [draft, known, `${draft}.lock`]) await rm(path, { force: true })
    })
  )
  const isKept = yield* onDisk(() =>
    copyFile(kept, known).then(
      () => true,
      (error) => (hasCode(error, "ENOENT") ? false : Promise.reject(error))
    )
  )
  yield* insist(directory, ["read-tree", "-i", "-m", commit], { ...options, index: known })
  const disk = yield* onDisk(() => diskOf(known))
  // By the clock that also tells when the files changed.
  const begun = yield* onDisk(async () => Math.floor(((await lstat(known)).ctimeMs - 100) / 1000))
  yield* onDisk(() => copyFile(known, draft))
  const differing = (index: string, settings: ReadonlyArray<string> = []) =>
    Effect.map(
      insist(directory, ["diff-files", "--name-only", "-z", "--no-renames", "--ignore-submodules=all"], {
        ...options,
        index,
        settings
      }),
      fieldsOf
    )
  const unknown = yield* differing(known)
  // Of a file of another size git takes for granted that it is changed, though the commit may have it with other ends of lines.
  if (isKept && unknown.some(isUnclear)) {
    yield* onDisk(() => rm(draft))
    yield* insist(directory, ["read-tree", "-i", "-m", commit], { ...options, index: draft })
  } else if (isKept && unknown.length > 0) {
    yield* forget(directory, new Set(unknown), { ...options, index: draft })
  }
  const unread = yield* tooLarge(directory, unknown, { ...options, index: draft })
  if (unread.length > 0) {
    const input = unread.map((path) => `${path}\0`).join("")
    const args = ["update-index", "--assume-unchanged", "-z", "--stdin"]
    yield* insist(directory, args, { ...options, index: draft, input })
  }
  if (unknown.length > 0)
    yield* runGit(directory, [...strictly, "update-index", "-q", "--refresh"], { ...options, index: draft })
  const changed = unknown.length === 0 ? [] : [...unread, ...(yield* differing(draft))]
  const isChanged = new Set(changed)
  // Asked again: what changed meanwhile was read, too.
  const read = unknown.length === 0 ? [] : (yield* differing(known)).filter((path) => !isChanged.has(path))

  const keep: Compared["keep"] = Effect.fnUntraced(function* (but) {
    const recent = yield* Effect.promise(() => changedSince(directory, read, begun))
    const again = new Set([...but, ...unread, ...recent])
    if ([...again].some(isUnclear)) return
    if (again.size > 0) yield* forget(directory, again, { ...options, index: draft })
    yield* onDisk(async () => {
      await rename(draft, kept)
      await removeAbandoned(folder, basename(kept))
    })
  })
  const ours = { ...options, index: draft, settings: disk.foldsCase ? [] : ["core.ignoreCase=false"] }
  const kinds = ["core.symlinks=true", ...(disk.keepsModes ? ["core.fileMode=true"] : [])]
  const otherKinds = Effect.map(differing(draft, kinds), (paths) => paths.filter((path) => !isChanged.has(path)))
  return { changed, read, keep, otherKinds, options: ours }
})
