/**
 * What git keeps of worktrees, in `worktrees` of the repository's git directory. Commands can write there: git follows a link among
 * the records, and `git worktree prune`, `git worktree remove` and `git gc` empty the folder that it leads to. So Reprise removes
 * records itself.
 */
import { realpath } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { readForeignFolder, readForeignText, removeForeign } from "@reprise/process"
import { Schema } from "effect"
import { exists } from "./found.ts"
import { inItsFolder } from "./pinnedFolder.ts"

interface WorktreeRecord {
  readonly path: string
  /** `.git` of the working tree. Undefined: the record does not say it. */
  readonly pointer: string | undefined
}

/** Of the one file of a record that is read here. */
const largestBytes = 1024 * 1024

/** Nobody has so many worktrees. */
const mostEntries = 100_000

const recordsIn = async (common: string): Promise<ReadonlyArray<WorktreeRecord>> => {
  const folder = join(await realpath(common), "worktrees")
  const entries = (await readForeignFolder(folder, { mostEntries })) ?? []
  return Promise.all(
    entries
      .filter((entry) => entry.isDirectory())
      .map(async ({ name }) => {
        const path = join(folder, name)
        const text = await readForeignText(join(path, "gitdir"), { largestBytes, follow: false }).catch(() => undefined)
        return { path, pointer: text === undefined ? undefined : resolve(path, text.trimEnd()) }
      })
  )
}

const isLocked = ({ path }: WorktreeRecord) => exists(join(path, "locked"))

/** Nothing of what a link leads to, wherever a command puts one meanwhile. */
const remove = ({ path }: WorktreeRecord) => inItsFolder(path, removeForeign)

/**
 * Removes the records of worktrees that are gone, unless they are locked, as `git worktree prune` does. `common`: the git directory
 * that the worktrees share, absolute. Rejected where something else than a folder is in the place of the one with the records.
 */
export const removeStaleRecords = async (common: string): Promise<void> => {
  for (const record of await recordsIn(common)) {
    const isGone = record.pointer !== undefined && !exists(record.pointer)
    if (isGone && !isLocked(record)) await remove(record)
  }
}

/** Nothing was removed. */
export class WorktreeStays extends Schema.TaggedError<WorktreeStays>()("WorktreeStays", {
  directory: Schema.String,
  /** A sentence with the next step. */
  why: Schema.String
}) {
  override get message() {
    return `The worktree ${this.directory} was not removed. ${this.why}`
  }
}

const real = (path: string) => realpath(path).catch(() => path)

const prefix = "gitdir: "

/** Whether a tree says itself that it is that of a record: a command can write a record that names any folder. */
const isTreeOf = async (tree: string, { path }: WorktreeRecord): Promise<boolean> => {
  const text = await readForeignText(join(tree, ".git"), { largestBytes, follow: false }).catch(() => undefined)
  return text?.startsWith(prefix) === true && (await real(resolve(tree, text.slice(prefix.length).trimEnd()))) === path
}

/**
 * Removes a working tree with everything in it, and its record. `common`: as above. `tree`: in a folder that no command may
 * replace. A tree without `.git`, which git makes first, stays, and only its record goes. Rejected with `WorktreeStays` where that is
 * locked, unless it is to go `evenLocked`, or the tree is not its.
 */
export const removeWorkingTree = async (
  common: string,
  tree: string,
  { evenLocked = false }: { readonly evenLocked?: boolean } = {}
): Promise<void> => {
  const at = await real(tree)
  const records: Array<WorktreeRecord> = []
  for (const record of await recordsIn(common)) {
    if (record.pointer !== undefined && (await real(dirname(record.pointer))) === at) records.push(record)
  }
  if (!evenLocked && records.some(isLocked)) {
    throw new WorktreeStays({ directory: tree, why: `It is locked: 'git worktree unlock ${tree}' unlocks it.` })
  }
  if (exists(join(tree, ".git"))) {
    const isIts = (await Promise.all(records.map((record) => isTreeOf(tree, record)))).includes(true)
    if (!isIts)
      throw new WorktreeStays({ directory: tree, why: "Its .git does not lead to what git keeps of it: look at it." })
    await removeForeign(tree)
  }
  for (const record of records) await remove(record)
}
