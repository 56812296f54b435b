/**
 * What was not committed before a run is tolerated as it was then, and not by its path alone: an author could put a file of its own
 * into a folder among it, which quality gates obey (docs/design/workspace.md#what-gates-run-on).
 */
import { mkdir, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import {
  type ChangedFile,
  changedFiles,
  type Difference,
  FileStates,
  readFileStates,
  readForeignText,
  replaceFile
} from "@reprise/process"
import { Effect, Result, Schema } from "effect"
import type { Place } from "../../actor/work.ts"
import { HostFault } from "../faults.ts"
import { ownTreeFolder } from "../git/ownTreeFolder.ts"
import { isAmong } from "./ownFiles.ts"

type Tree = Pick<Place, "directory" | "root">
type Tolerating = Pick<Place, "directory" | "root" | "tolerated">

const Recorded = Schema.fromJsonString(FileStates)
const decode = Schema.decodeUnknownResult(Recorded)

const recordOf = (tree: Tree): string => `${ownTreeFolder(tree)}-tolerated.json`

/** Of 100 000 files with long names. */
const largestBytes = 256 * 1024 * 1024

/** Of a record that cannot be read nothing is believed. */
const none: FileStates = { files: [], isWhole: true }

const attempt = <A>(operation: string, run: () => Promise<A>) =>
  Effect.tryPromise({ try: run, catch: (cause) => new HostFault({ operation, cause }) })

/**
 * Copies of the files of a run's own worktree, named for their content: what is changed there Reprise puts back. In the user's own
 * tree the user may have changed them.
 */
export const contentsOfTolerated = (tree: Tree): string => `${ownTreeFolder(tree)}-tolerated`

const keepIn = async (tree: Tree) => {
  if (tree.directory === tree.root) return undefined
  const folder = contentsOfTolerated(tree)
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true, mode: 0o700 })
  return (hash: string, content: Buffer) => writeFile(join(folder, hash), content, { mode: 0o600 })
}

/** Records what the tolerated files hold now, before anybody works in the tree. */
export const recordTolerated = Effect.fn("recordTolerated")(function* (place: Tolerating) {
  if (place.tolerated.length === 0) return
  const isWhole = yield* attempt("recording what is not committed before the run", async () => {
    const states = await readFileStates(place.directory, place.tolerated, await keepIn(place))
    await replaceFile(recordOf(place), JSON.stringify(states))
    return states.isWhole
  })
  if (!isWhole) {
    yield* Effect.logWarning(
      `${place.directory} has more files that are not committed than Reprise compares, or folders that cannot be listed: a new file among them counts as one that was there before the run. Name them in .gitignore.`
    )
  }
})

/** Those among what was not committed before the run that are not as they were then. `differences`: of the tree from the commit. */
export const changedTolerated = Effect.fn("changedTolerated")(function* (
  place: Tolerating,
  differences: ReadonlyArray<Difference>
): Effect.fn.Return<ReadonlyArray<ChangedFile>, HostFault> {
  const among = differences.filter(({ path }) => isAmong(path, place.tolerated))
  if (among.length === 0) return []
  return yield* attempt("looking at what was not committed before the run", async () => {
    const text = await readForeignText(recordOf(place), { largestBytes, follow: false })
    // A run that an earlier version began has no record.
    if (text === undefined) return []
    const before = Result.getOrElse(decode(text), () => none)
    return changedFiles(
      place.directory,
      among.map(({ path }) => path),
      before
    )
  })
})

const why = {
  new: "is in no commit, and was not there when the run began: remove it, or commit it",
  changed: "was not committed when the run began, and has another content now: put that back, or commit it",
  unlisted: "holds more than can be compared with what was there when the run began: remove what does not belong there"
} as const

export interface Untolerated {
  readonly differences: ReadonlyArray<Difference>
  /** In the user's own tree, where the user may have changed them as well as the author: for a person to know. */
  readonly changed: ReadonlyArray<string>
}

/** Without those of files that are as they were when the run began to tolerate them. */
export const withoutTolerated = Effect.fn("withoutTolerated")(function* (
  place: Tolerating,
  all: ReadonlyArray<Difference>
): Effect.fn.Return<Untolerated, HostFault> {
  const { directory, root, tolerated } = place
  const others = all.filter(({ path }) => !isAmong(path, tolerated))
  const found = yield* changedTolerated(place, all)
  const isUsers = (one: (typeof found)[number]) => directory === root && one.how === "changed"
  return {
    differences: [...others, ...found.flatMap((one) => (isUsers(one) ? [] : [{ path: one.path, why: why[one.how] }]))],
    changed: found.filter(isUsers).map(({ path }) => path)
  }
})
