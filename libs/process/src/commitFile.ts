/**
 * A commit of one file that Reprise makes itself. It is made from the commit that was verified, by an index of Reprise's own, so
 * nothing that somebody staged comes into it.
 */
import { randomUUID } from "node:crypto"
import { rm } from "node:fs/promises"
import { join } from "node:path"
import { Effect, type Scope } from "effect"
import type { Difference } from "./committedTree.ts"
import { insist, ownFolder } from "./ownIndex.ts"
import type { GitOptions } from "./runGit.ts"
import type { ProgramFailed } from "./runProgram.ts"
import { unfinishedWork } from "./unfinishedWork.ts"

export interface FileToCommit {
  /** What HEAD is, a whole hash; the commit's parent. */
  readonly head: string
  /** Relative to the top. */
  readonly path: string
  /** One line. */
  readonly message: string
  /** Who commits, as settings that count more than the configuration. */
  readonly identity: ReadonlyArray<string>
  /** Where Reprise keeps its own index of this tree. */
  readonly folder: string
}

export type CommittedFile =
  /** The new HEAD; the old one, where it has the file as it is now. */
  | { readonly _tag: "Committed"; readonly head: string }
  /** HEAD is where it was: a merge waits. */
  | { readonly _tag: "Refused"; readonly differences: ReadonlyArray<Difference> }

/** Has the repository's index say of the file what the commit has; its other entries stay. */
const putIntoIndex = Effect.fnUntraced(function* (directory: string, path: string, entry: string, options: GitOptions) {
  const [, mode, hash] = /^(\d+) ([0-9a-f]+) 0\t/.exec(entry) ?? []
  // The entry is exact, and takes flags away; the path then has git look what the file is on the disk.
  const change =
    mode === undefined || hash === undefined
      ? ["--force-remove", "--", path]
      : ["--add", "--remove", "--cacheinfo", `${mode},${hash},${path}`, "--", path]
  yield* insist(directory, ["update-index", ...change], options)
})

/**
 * Commits one file as it is now, whatever is staged, and has HEAD and its branch stand for the commit if HEAD is still its parent.
 * Starts no hooks, and does not sign. What a crash cut off is made up for when it is repeated.
 */
export const commitFile = Effect.fn("commitFile")(function* (
  directory: string,
  file: FileToCommit,
  options: GitOptions = {}
): Effect.fn.Return<CommittedFile, ProgramFailed, Scope.Scope> {
  const { folder, head, identity, message, path } = file
  const gitDirectory = (yield* insist(directory, ["rev-parse", "--absolute-git-dir"], options)).trimEnd()
  const waiting = yield* unfinishedWork(gitDirectory)
  if (waiting.length > 0) return { _tag: "Refused", differences: waiting }
  yield* ownFolder(folder)
  const index = join(folder, `${randomUUID()}.draft`)
  yield* Effect.addFinalizer(() =>
    Effect.promise(async () => {
      for (const one of [index, `${index}.lock`]) await rm(one, { force: true })
    })
  )
  const own = { ...options, index, settings: [...(options.settings ?? []), ...identity] }
  yield* insist(directory, ["read-tree", head], own)
  const before = (yield* insist(directory, ["write-tree"], own)).trim()
  yield* insist(directory, ["update-index", "--add", "--remove", "--", path], own)
  const tree = (yield* insist(directory, ["write-tree"], own)).trim()
  const entry = yield* insist(directory, ["ls-files", "--stage", "-z", "--", path], own)
  if (tree === before) {
    yield* putIntoIndex(directory, path, entry, options)
    return { _tag: "Committed", head }
  }
  const commit = (yield* insist(directory, ["commit-tree", tree, "-p", head, "-m", message], own)).trim()
  yield* insist(directory, ["update-ref", "-m", `commit: ${message}`, "HEAD", commit, head], own)
  yield* putIntoIndex(directory, path, entry, options)
  return { _tag: "Committed", head: commit }
})
