/** The git directories of submodules and worktrees in that of a repository, whether they are checked out or not. Reads only. */
import type { Dirent } from "node:fs"
import { join } from "node:path"
import { hasCode, readForeignFolder } from "@reprise/process"
import type { GitRepository } from "./askGit.ts"

export interface Directories {
  /** That of the repository, and those of submodules. */
  readonly repositories: ReadonlyArray<string>
  readonly worktrees: ReadonlyArray<string>
}

/** Nobody has so many in one folder. */
const mostEntries = 200_000

const entriesOf = async (folder: string): Promise<ReadonlyArray<Dirent>> => {
  const entries = await readForeignFolder(folder, { mostEntries }).catch((error) =>
    hasCode(error, "ENOTDIR") ? undefined : Promise.reject(error)
  )
  return entries ?? []
}

const foldersIn = (folder: string, entries: ReadonlyArray<Dirent>): ReadonlyArray<string> =>
  entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name))

/** git has no command that lists submodules that are not checked out. Their names may have any number of folders. */
const submodulesIn = async (folder: string): Promise<ReadonlyArray<string>> => {
  const entries = await entriesOf(folder)
  if (entries.some(({ name }) => name === "HEAD")) return [folder]
  return (await Promise.all(foldersIn(folder, entries).map(submodulesIn))).flat()
}

export const gitDirectoriesOf = async ({ common }: Pick<GitRepository, "common">): Promise<Directories> => {
  const repositories: Array<string> = []
  const worktrees: Array<string> = []
  /** Submodules have submodules and worktrees of their own, and so have worktrees. */
  const collect = async (repository: string): Promise<void> => {
    repositories.push(repository)
    const folder = join(repository, "worktrees")
    const linked = foldersIn(folder, await entriesOf(folder))
    worktrees.push(...linked)
    for (const one of [repository, ...linked]) {
      for (const submodule of await submodulesIn(join(one, "modules"))) await collect(submodule)
    }
  }
  await collect(common)
  return { repositories, worktrees }
}
