/**
 * The caches of each workspace on the disk, below `.reprise/sandbox/.git/caches`: `ID/agents`, and `ID/gates-RUN` for the quality
 * gates of the run that works there. Nothing that a command of one workspace wrote is seen by one of another.
 */
import type { Dirent } from "node:fs"
import { chmod, lstat, mkdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { readForeignFolder, readForeignText, removeForeign, replaceFile } from "@reprise/process"
import { fateOf, keptPackages } from "./cacheRules.ts"

/**
 * Folders that commands write lie below one of git's name, in which git accepts no path. Without it a submodule of that path, also one
 * that a commit brings, would have the user's git obey a repository that a command makes there.
 */
export const writtenIn = (folder: string) => join(folder, ".git")

/** Where commands see them, and earlier versions had them. `sandboxFolder`: `.reprise/sandbox`. */
export const cachesInside = (sandboxFolder: string) => join(sandboxFolder, "caches")

/** More are nobody's cache. */
const mostEntries = 10_000_000

/** Rejected if it cannot be listed: what is in it would stay. */
const entriesOf = (folder: string): Promise<ReadonlyArray<Dirent>> =>
  readForeignFolder(folder, { mostEntries }).then((entries) => entries ?? [])

/** Removes what fits none of the patterns. A link is never kept: what it leads to may be written by others. */
export const removeAllBut = async (
  patterns: ReadonlyArray<string>,
  folder: string,
  below: ReadonlyArray<string> = []
): Promise<void> => {
  await chmod(folder, 0o700)
  for (const entry of await entriesOf(folder)) {
    const path = join(folder, entry.name)
    const names = [...below, entry.name]
    const fate = entry.isSymbolicLink() ? "removed" : fateOf(patterns, names.join("/"))
    if (fate === "above" && entry.isDirectory()) await removeAllBut(patterns, path, names)
    else if (fate !== "kept") await removeForeign(path)
  }
}

/** A folder that is empty. */
export const makeAnew = async (folder: string): Promise<void> => {
  await removeForeign(folder)
  await mkdir(folder, { recursive: true, mode: 0o700 })
}

const nameSuffix = ".workspace"

const readNote = (path: string) =>
  readForeignText(path, { largestBytes: 64 * 1024, follow: false }).catch(() => undefined)

/** Written before the folder is made, so that no folder is without it. */
const noteWorkspace = async (folder: string, id: string, workspace: string): Promise<void> => {
  const path = join(folder, `${id}${nameSuffix}`)
  if ((await readNote(path)) !== workspace) await replaceFile(path, workspace, { mode: 0o600 })
}

export interface CachesOf {
  /** `.reprise/sandbox/.git/caches`. */
  readonly folder: string
  /** Tells the workspace from others. */
  readonly id: string
  readonly workspace: string
}

/** Of agents' commands, whatever their role. */
export const agentCaches = ({ folder, id }: CachesOf): string => join(folder, id, "agents")

/** Of the quality gates of a run. `run`: a name of a file. */
export const gateCaches = ({ folder, id }: CachesOf, run: string): string => join(folder, id, `gates-${run}`)

export const makeAgentCaches = async (of: CachesOf): Promise<void> => {
  await noteWorkspace(of.folder, of.id, of.workspace)
  await mkdir(agentCaches(of), { recursive: true, mode: 0o700 })
}

/**
 * Before each gate: its run's packages are there, and nothing else. Those of other runs are removed: one run at a time works
 * in a workspace.
 */
export const makeGateCaches = async (of: CachesOf, run: string): Promise<void> => {
  await noteWorkspace(of.folder, of.id, of.workspace)
  const own = gateCaches(of, run)
  for (const { name } of await entriesOf(join(of.folder, of.id))) {
    const path = join(of.folder, of.id, name)
    if (name.startsWith("gates-") && path !== own) await removeForeign(path)
  }
  await mkdir(own, { recursive: true, mode: 0o700 })
  await removeAllBut(keptPackages, own)
}

/** Removes the caches of workspaces that are gone, and what earlier versions kept for all of them. */
export const removeUnusedCaches = async (folder: string): Promise<void> => {
  for (const { name } of await entriesOf(folder)) {
    if (name.endsWith(nameSuffix)) continue
    const workspace = await readNote(join(folder, `${name}${nameSuffix}`))
    const isThere =
      workspace !== undefined &&
      (await lstat(workspace).then(
        () => true,
        () => false
      ))
    if (isThere) continue
    await removeForeign(join(folder, name))
    await rm(join(folder, `${name}${nameSuffix}`), { force: true })
  }
}
