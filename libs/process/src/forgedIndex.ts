/**
 * An index that a command wrote itself, with entries that git never makes, but believes: one inside of `.git` or outside of the tree has
 * the next `git restore` write there, and a submodule there has the next `git status` obey its configuration.
 */
import { lstat, mkdir, rename, stat } from "node:fs/promises"
import { dirname, join } from "node:path"
import { Effect } from "effect"
import { sharedBy } from "./commonDirectory.ts"
import { ForeignFileRefused, readForeignFile, readForeignText } from "./foreignFile.ts"
import { readIndexEntries, refusedEntries, UnclearIndex } from "./indexEntries.ts"
import { bytesOf, insist, onDisk } from "./ownIndex.ts"
import { asBuffer, asText, type Bytes } from "./pathBytes.ts"
import { isRefusedPath } from "./pathsGitRefuses.ts"
import { rememberWhile } from "./rememberWhile.ts"
import type { GitOptions } from "./runGit.ts"
import type { ProgramFailed } from "./runProgram.ts"

/** Of an index; one of a million files has 100 MB. */
export const largestIndex = 1024 * 1024 * 1024
const largestConfiguration = 1024 * 1024

const isThere = (path: string) =>
  lstat(path).then(
    () => true,
    () => false
  )

/** Of a worktree it is where git itself keeps worktrees, whatever `commondir` says. */
const commonOf = async (gitDirectory: string): Promise<string> =>
  (await isThere(join(gitDirectory, "commondir"))) ? sharedBy(gitDirectory) : gitDirectory

/** How many bytes name an object. git reads it in this one file, whose keys cannot be written in another way. */
const hashBytesBy = async (configuration: string): Promise<number> => {
  const text = (await readForeignText(configuration, { largestBytes: largestConfiguration })) ?? ""
  const named = text.match(/objectformat/gi)?.length ?? 0
  const [, format] = /^[ \t]*objectformat[ \t]*=[ \t]*(sha1|sha256)[ \t]*$/im.exec(text) ?? []
  if (named > 1 || (named === 1 && format === undefined)) throw new UnclearIndex("nobody knows how objects are named")
  return format?.toLowerCase() === "sha256" ? 32 : 20
}

interface Look {
  /** From which it follows. */
  readonly files: ReadonlyArray<string>
  readonly says: ReadonlyArray<string>
}

const mostSaid = 5

const saidOf = (refused: ReadonlyArray<Bytes>): ReadonlyArray<string> =>
  refused.slice(0, mostSaid).map((path) => `has the entry ${JSON.stringify(asText(path))}, which git never makes`)

const look = async (gitDirectory: string): Promise<Look> => {
  const index = join(gitDirectory, "index")
  const configuration = join(await commonOf(gitDirectory), "config")
  const content = await readForeignFile(index, { largestBytes: largestIndex })
  if (content === undefined) return { files: [index], says: [] }
  const hashBytes = await hashBytesBy(configuration)
  const found = readIndexEntries(content, hashBytes)
  if (found.link === undefined) return { files: [index, configuration], says: saidOf(refusedEntries(found)) }
  const other = join(gitDirectory, `sharedindex.${found.link}`)
  const shared = await readForeignFile(other, { largestBytes: largestIndex, follow: false })
  if (shared === undefined) throw new UnclearIndex("its other file is not there")
  const base = readIndexEntries(shared, hashBytes)
  if (base.link !== undefined) throw new UnclearIndex("its other file goes on in a third one")
  return { files: [index, other, configuration], says: saidOf(refusedEntries(found, base.entries)) }
}

const looked = rememberWhile<Look>(({ files }) => files)

/**
 * Why no git should read the index of a working tree, as predicates of sentences; none where there is no index, or nothing is wrong. The
 * same file is not read again. `gitDirectory`: of the working tree, absolute.
 */
export const forgeriesIn = async (gitDirectory: string): Promise<ReadonlyArray<string>> => {
  const index = join(gitDirectory, "index")
  // Most submodules and worktrees have one, but not all.
  if ((await stat(index).catch(() => undefined)) === undefined) return []
  try {
    return (await looked(gitDirectory, () => look(gitDirectory))).says
  } catch (error) {
    if (error instanceof ForeignFileRefused) return [error.what]
    if (error instanceof UnclearIndex) return [`is no index as git writes it: ${error.message}`]
    throw error
  }
}

/**
 * Makes an index of HEAD, without what git refuses and the state of Reprise. Where HEAD is no commit none is made. `gitDirectory`: of
 * the working tree, absolute; it has no index.
 */
export const makeIndexOfHead = Effect.fn("makeIndexOfHead")(function* (
  gitDirectory: string,
  options: GitOptions = {}
): Effect.fn.Return<void, ProgramFailed> {
  const folder = yield* onDisk(() => commonOf(gitDirectory))
  const at: GitOptions = { ...options, shared: { gitDirectory, workTree: gitDirectory, folder } }
  const listed = yield* bytesOf(gitDirectory, ["ls-tree", "-r", "-z", "--full-tree", "HEAD"], at)
  if (listed.exitCode !== 0) return
  const records = listed.bytes.split("\0").filter((record) => {
    const [, mode = "", path = ""] = /^(\d+) \w+ [0-9a-f]+\t(.+)$/s.exec(record) ?? []
    return path !== "" && !isRefusedPath(path, Number.parseInt(mode, 8))
  })
  const input = asBuffer(records.map((record) => `${record}\0`).join(""))
  yield* insist(gitDirectory, ["update-index", "-z", "--index-info"], { ...at, input })
})

const moveAside = async (gitDirectory: string): Promise<string> => {
  const folder = join(gitDirectory, "reprise-left")
  await mkdir(folder, { recursive: true })
  if (!(await lstat(folder)).isDirectory()) throw new Error(`${folder} is a link. Remove it.`)
  const to = join(folder, `${Date.now()}-index`)
  await rename(join(gitDirectory, "index"), to)
  return to
}

/** Where an index is forged, moves it to `reprise-left` beside it, has git make one of HEAD, and says so. */
export const replaceForgedIndex = Effect.fn("replaceForgedIndex")(function* (
  gitDirectory: string,
  options: GitOptions = {}
): Effect.fn.Return<void, ProgramFailed> {
  const [why] = yield* onDisk(() => forgeriesIn(gitDirectory))
  if (why === undefined) return
  const to = yield* onDisk(() => moveAside(gitDirectory))
  yield* makeIndexOfHead(gitDirectory, options)
  yield* Effect.logWarning(
    `The index in ${gitDirectory} ${why}: moved to ${to}, and made anew from HEAD. Stage again what was staged.`
  )
})
