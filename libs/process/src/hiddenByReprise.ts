/**
 * What lies under the names that Reprise has git hide, though it keeps nothing of its own there. Its rules in `info/exclude` hold
 * in every worktree and, since git looks at submodules with the configuration of the repository around them, in these too; and a
 * rule for a file hides a folder of its name (docs/design/workspace.md#what-gates-run-on).
 */
import { lstat } from "node:fs/promises"
import { posix } from "node:path"
import { below, entriesBelow, entriesOf, limitedTo, placeOf, TooMany } from "./folderEntries.ts"
import { kindOf } from "./foreignFile.ts"
import { asBytes, asClearText } from "./pathBytes.ts"
import type { Committed } from "./selfHiddenFolders.ts"
import { holdsNothing, mostStrangers, type Unlisted } from "./unlistedEntries.ts"
import { fileNamesOfPhase, localSettings, phasesFolder, stateFolder } from "./workingTree.ts"

/** `root`: the working tree in which Reprise keeps its state. */
export type KindOfTree = "root" | "worktree" | "submodule"

const isHidden = "is hidden by a rule that Reprise itself made, and is in no commit: remove it, or commit it"
const isNoFile = "in the place of a file that Reprise writes or reads, and is in no commit: remove it"
const isLarge =
  "is hidden by a rule that Reprise itself made, and holds too much to be listed, or folders that cannot be: remove it"

/** Below a folder of such a name. */
const inFolder = async (directory: string, path: string, { files, folders }: Committed) => {
  const entries = await entriesBelow(asBytes(directory), asBytes(path), mostStrangers)
  if (entries === undefined) return [{ path: `${path}/`, why: isLarge }]
  if (entries.length === 0 && !folders.has(path))
    return [{ path, why: holdsNothing, mayStay: true as const, isEmpty: true as const }]
  return entries
    .map((entry) => asClearText(entry.path))
    .filter((inside) => !files.has(inside))
    .map((inside) => ({ path: inside, why: isHidden }))
}

const lookAt = async (
  directory: string,
  path: string,
  commit: Committed,
  isTolerated: boolean
): Promise<ReadonlyArray<Unlisted>> => {
  const found = await lstat(placeOf(asBytes(directory), asBytes(path))).catch(() => undefined)
  if (found === undefined) return []
  if (found.isDirectory()) return inFolder(directory, path, commit)
  if (commit.files.has(path)) return []
  if (!found.isFile()) return [{ path, why: `${kindOf(found)} ${isNoFile}`, mayStay: true }]
  return isTolerated ? [] : [{ path, why: isHidden }]
}

const isFolder = async (directory: string, path: string) =>
  (await lstat(placeOf(asBytes(directory), asBytes(path))).catch(() => undefined))?.isDirectory() === true

/** Where Reprise writes files for a phase; undefined: there are too many to look at. */
const foldersOfPhases = async (directory: string): Promise<ReadonlyArray<string> | undefined> => {
  if (!(await isFolder(directory, posix.dirname(phasesFolder))) || !(await isFolder(directory, phasesFolder))) return []
  const count = limitedTo(mostStrangers)
  const entries = await entriesOf(asBytes(directory), asBytes(phasesFolder), count).catch((error) =>
    error instanceof TooMany ? undefined : Promise.reject(error)
  )
  return entries
    ?.filter((entry) => entry.isDirectory())
    .map((entry) => asClearText(below(asBytes(phasesFolder), entry.name)))
}

/** What is in no commit and hidden by Reprise's rules, but for Reprise's own: plain files of its names, and its state in the `root`. */
export const hiddenByReprise = async (
  directory: string,
  commit: Committed,
  kind: KindOfTree
): Promise<ReadonlyArray<Unlisted>> => {
  const phases = await foldersOfPhases(directory)
  if (phases === undefined) return [{ path: `${phasesFolder}/`, why: isLarge }]
  const files = [localSettings, ...phases.flatMap((folder) => fileNamesOfPhase.map((name) => `${folder}/${name}`))]
  const found: Array<Unlisted> = []
  // Its rule hides only a folder; in no other tree Reprise keeps one.
  if (kind !== "root" && (await isFolder(directory, stateFolder)))
    found.push(...(await inFolder(directory, stateFolder, commit)))
  for (const path of files) found.push(...(await lookAt(directory, path, commit, kind !== "submodule")))
  return found
}
