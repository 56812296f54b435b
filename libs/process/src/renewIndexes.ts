/**
 * What git keeps in an index besides its entries, so that it need not look again: the trees that folders are (`TREE`), folders
 * without untracked files (`UNTR`), files that did not change (`FSMN`), entries of another file (`link`), how conflicts were. git
 * believes it, and nothing shows it: whoever may write the index can have the next `git commit` commit a folder that no entry
 * names, and `git status` overlook files (docs/design/workspace.md#what-gates-run-on). So git writes the index again without it.
 */
import { createHash, randomUUID } from "node:crypto"
import { realpath } from "node:fs/promises"
import { dirname, join, sep } from "node:path"
import { Effect } from "effect"
import { readForeignFile } from "./foreignFile.ts"
import { largestIndex, replaceForgedIndex } from "./forgedIndex.ts"
import { GitEnded, insist, insistBytes, onDisk } from "./ownIndex.ts"
import { asBuffer, fieldsOf, foldersOf } from "./pathBytes.ts"
import type { GitOptions, GitPlace } from "./runGit.ts"
import type { ProgramFailed } from "./runProgram.ts"
import { placeOfSubmodule, readGitlinks } from "./submodules.ts"

interface Renewed {
  /** Of the whole index. */
  readonly digest: string
  /** Paths of submodules that it has. */
  readonly submodules: ReadonlyArray<string>
}

/** By the path of the index: one with the same content as when git wrote it here needs nothing. */
const renewed = new Map<string, Renewed>()

/** Undefined: there is none, as before the first `git add`. A link is refused: git would write where it leads. */
const digestOf = (index: string) =>
  onDisk(async () => {
    const content = await readForeignFile(index, { largestBytes: largestIndex, follow: false })
    return content === undefined ? undefined : createHash("sha256").update(content).digest("hex")
  })

/**
 * Entries, flags, conflicts and stored facts about the files stay. git drops what it has stored about a folder when a path in it is
 * removed from the index, also one that was never there.
 */
const renew = Effect.fnUntraced(function* (directory: string, index: string, options: GitOptions) {
  const { place: _, ...plain } = options
  yield* replaceForgedIndex(dirname(index), plain)
  const found = yield* digestOf(index)
  if (found === undefined) return []
  const known = renewed.get(index)
  if (known?.digest === found) return known.submodules
  const { bytes } = yield* insistBytes(directory, ["ls-files", "--stage", "-z"], options)
  const paths = fieldsOf(bytes).map((entry) => entry.slice(entry.indexOf("\t") + 1))
  const unused = randomUUID()
  const input = asBuffer([...foldersOf(paths)].map((folder) => `${folder}${unused}\0`).join(""))
  const args = ["update-index", "--clear-resolve-undo", "--force-remove", "-z", "--stdin"]
  yield* insist(directory, args, { ...options, input })
  const submodules = readGitlinks(asBuffer(bytes).toString("utf8")).map(({ path }) => path)
  const digest = yield* digestOf(index)
  if (digest !== undefined) renewed.set(index, { digest, submodules })
  return submodules
})

const isWithin = (path: string, folder: string) => path === folder || path.startsWith(`${folder}${sep}`)

/** Where the index of a submodule is, if it is checked out and lies in the repository's own folders: others are nobody's to write. */
const submoduleAt = async (root: string, path: string, gitDirectory: string): Promise<GitPlace | undefined> => {
  const place = await placeOfSubmodule(join(root, path), gitDirectory).catch(() => undefined)
  if (place === undefined) return undefined
  const folder = await realpath(dirname(place.index)).catch(() => undefined)
  const own = await Promise.all([root, gitDirectory].map((one) => realpath(one)))
  return folder !== undefined && own.some((one) => isWithin(folder, one)) ? place : undefined
}

/** Such an index no git commits from, and the comparison with the commit tells of it. */
const isUnreadable = ({ cause }: ProgramFailed) => cause instanceof GitEnded && !cause.stderr.includes(".lock")

/** As many as are compared with their commits. */
const most = { depth: 8, submodules: 1_000 }

/**
 * Has git write the index of a working tree again, and those of its submodules, without what it keeps there besides the entries.
 * Nothing is started or written where the index is as git wrote it here last. `gitDirectory`: absolute. Fails where git does, such as
 * while another git holds the lock of the index, and where something else than a file is in the place of an index.
 */
export const renewIndexes = Effect.fn("renewIndexes")(function* (
  directory: string,
  gitDirectory: string,
  options: GitOptions = {}
): Effect.fn.Return<void, ProgramFailed> {
  let level = yield* renew(directory, join(gitDirectory, "index"), options)
  let left = most.submodules
  for (let depth = 1; depth <= most.depth && level.length > 0 && left > 0; depth++) {
    const below = yield* Effect.forEach(
      level.slice(0, left),
      (path) =>
        Effect.gen(function* () {
          const place = yield* onDisk(() => submoduleAt(directory, path, gitDirectory))
          if (place === undefined) return []
          const inside = yield* renew(place.workTree, place.index, { ...options, place }).pipe(
            Effect.catchIf(isUnreadable, () => Effect.succeed([]))
          )
          return inside.map((one) => join(path, one))
        }),
      { concurrency: 4 }
    )
    left -= level.length
    level = below.flat()
  }
})
