/**
 * The git directories of submodules and worktrees in that of a repository, whether they are checked out or not. A command can
 * make as many folders there as it likes, so there is a limit. Reads only.
 */
import type { Dirent } from "node:fs"
import { join } from "node:path"
import { hasCode, readForeignFolder } from "@reprise/process"
import { Schema } from "effect"
import type { GitRepository } from "./askGit.ts"

export interface Directories {
  /** That of the repository, and those of submodules. */
  readonly repositories: ReadonlyArray<string>
  readonly worktrees: ReadonlyArray<string>
}

/** In a git directory more folders stand where submodules and worktrees are kept than can be looked at. */
export class TooManyGitDirectories extends Schema.TaggedError<TooManyGitDirectories>()("TooManyGitDirectories", {
  /** The folder in which there were too many. */
  folder: Schema.String,
  most: Schema.Finite
}) {
  override get message() {
    return (
      `git's directory has more than ${this.most} folders and files where it keeps submodules and worktrees, the last ones in ${this.folder}. ` +
      "Each may be a git directory that git outside of the sandbox would obey, so nothing goes on here. Remove what does not belong there: 'git worktree prune' removes worktrees that are gone."
    )
  }
}

export interface DirectoryLimits {
  /** Folders that may be a git directory. Nobody has more submodules and worktrees. */
  readonly mostFolders: number
  /** Entries of all folders that are listed: a git directory has about fifteen. */
  readonly mostEntries: number
}

const usualLimits: DirectoryLimits = { mostFolders: 5_000, mostEntries: 200_000 }

/** Rejected with `TooManyGitDirectories`. */
export const gitDirectoriesOf = async (
  { common }: Pick<GitRepository, "common">,
  { mostEntries, mostFolders }: DirectoryLimits = usualLimits
): Promise<Directories> => {
  const left = { folders: mostFolders, entries: mostEntries }
  const list = async (folder: string): Promise<ReadonlyArray<Dirent>> => {
    const entries = await readForeignFolder(folder, { mostEntries: left.entries }).catch((error) =>
      hasCode(error, "ETOOMANY") ? Promise.reject(new TooManyGitDirectories({ folder, most: mostEntries })) : undefined
    )
    left.entries -= entries?.length ?? 0
    return entries ?? []
  }
  const foldersIn = (folder: string, entries: ReadonlyArray<Dirent>): ReadonlyArray<string> => {
    const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name))
    left.folders -= folders.length
    if (left.folders < 0) throw new TooManyGitDirectories({ folder, most: mostFolders })
    return folders
  }
  const worktreesOf = async (one: string) => {
    const folder = join(one, "worktrees")
    return foldersIn(folder, await list(folder))
  }
  /**
   * Below `modules`, where git keeps submodules; it has no command that lists those that are not checked out. A command can take
   * `HEAD` away and put it back later, but not the configuration.
   */
  const submodulesIn = async (directory: string): Promise<ReadonlyArray<string>> => {
    const entries = await list(directory)
    if (entries.some((entry) => entry.isFile() && ["HEAD", "config"].includes(entry.name))) return [directory]
    const found: Array<string> = []
    for (const folder of foldersIn(directory, entries)) found.push(...(await submodulesIn(folder)))
    return found
  }
  const repositories: Array<string> = []
  const worktrees: Array<string> = []
  /** Submodules have submodules and worktrees of their own, and so have worktrees. */
  const collect = async (repository: string): Promise<void> => {
    repositories.push(repository)
    const linked = await worktreesOf(repository)
    worktrees.push(...linked)
    for (const one of [repository, ...linked]) {
      for (const submodule of await submodulesIn(join(one, "modules"))) await collect(submodule)
    }
  }
  await collect(common)
  return { repositories, worktrees }
}
