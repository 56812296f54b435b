/**
 * The git directories of submodules and worktrees in that of a repository, whether they are checked out or not. A command can
 * make as many folders there as it likes, so there is a limit. Reads only.
 */
import { type Dirent, readdirSync } from "node:fs"
import { join, relative, sep } from "node:path"
import { hasCode, readForeignFolder } from "@reprise/process"
import { Schema } from "effect"
import type { GitRepository } from "./askGit.ts"
import { isClear } from "./clearPaths.ts"

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

/** There is a folder that git may find and Reprise cannot name. */
export class UnclearGitDirectory extends Schema.TaggedError<UnclearGitDirectory>()("UnclearGitDirectory", {
  /** The folder in which it is. */
  folder: Schema.String,
  /** All of them in this folder, or the uppermost folder of one that is too deep. */
  paths: Schema.Array(Schema.Union([Schema.String, Schema.Uint8Array]))
}) {
  override get message() {
    return (
      `In ${JSON.stringify(this.folder)}, where git keeps submodules and worktrees, there is a folder whose name is no text, has a control ` +
      "character in it, or is so deep that it cannot be named. It may be a git directory that git outside of the sandbox would obey, so " +
      "nothing goes on here. Remove it, or give it another name."
    )
  }
}

/** Of a path; the kernel takes 4 095, and something in the folder has to be named, too. */
const mostBytes = 3_900

const isText = (name: string) => isClear(name) && !name.includes("\ufffd")

const unclearIn = (folder: string) => {
  const names = readdirSync(folder, { encoding: "buffer", withFileTypes: true }).filter((entry) => entry.isDirectory())
  const paths = names.flatMap(({ name }) =>
    isText(name.toString()) ? [] : [Buffer.concat([Buffer.from(`${folder}/`), name])]
  )
  return new UnclearGitDirectory({ folder, paths })
}

const tooDeep = (common: string, path: string) => {
  const [place = "", ...rest] = relative(common, path).split(sep)
  const [above = ""] = rest
  return new UnclearGitDirectory({ folder: join(common, place), paths: [join(common, place, above)] })
}

/** A folder of this name is a submodule's own. */
const hasFile = (entries: ReadonlyArray<Dirent>, ...names: ReadonlyArray<string>): boolean =>
  entries.some((entry) => names.includes(entry.name) && !entry.isDirectory())

/** git looks for submodules in none of the other folders of one that is whole. */
const isWhole = (entries: ReadonlyArray<Dirent>): boolean =>
  hasFile(entries, "HEAD") && ["objects", "refs"].every((name) => entries.some((entry) => entry.name === name))

/** Rejected with `TooManyGitDirectories` or `UnclearGitDirectory`. */
export const gitDirectoriesOf = async (
  { common }: Pick<GitRepository, "common">,
  { mostEntries, mostFolders }: DirectoryLimits = usualLimits
): Promise<Directories> => {
  const left = { folders: mostFolders, entries: mostEntries }
  const list = async (folder: string): Promise<ReadonlyArray<Dirent>> => {
    if (Buffer.byteLength(folder) > mostBytes) throw tooDeep(common, folder)
    const entries = await readForeignFolder(folder, { mostEntries: left.entries }).catch((error) => {
      if (hasCode(error, "ETOOMANY")) throw new TooManyGitDirectories({ folder, most: mostEntries })
      if (hasCode(error, "ENOTDIR")) return undefined
      throw error
    })
    left.entries -= entries?.length ?? 0
    return entries ?? []
  }
  const foldersIn = (folder: string, entries: ReadonlyArray<Dirent>): ReadonlyArray<string> => {
    const names = entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))
    if (!names.every(isText)) throw unclearIn(folder)
    const folders = names.map((name) => join(folder, name))
    left.folders -= folders.length
    if (left.folders < 0) throw new TooManyGitDirectories({ folder, most: mostFolders })
    return folders
  }
  const worktreesOf = async (one: string) => {
    const folder = join(one, "worktrees")
    return foldersIn(folder, await list(folder))
  }
  /**
   * Below `modules`, where git keeps submodules; it has no command that lists those that are not checked out. Their names may have
   * any number of folders. A command can take `HEAD` away and put it back later.
   */
  const submodulesIn = async (directory: string): Promise<ReadonlyArray<string>> => {
    const entries = await list(directory)
    const found = hasFile(entries, "HEAD", "config", "commondir") ? [directory] : []
    if (isWhole(entries)) return found
    for (const folder of foldersIn(directory, entries)) found.push(...(await submodulesIn(folder)))
    return found
  }
  const repositories: Array<string> = []
  const worktrees: Array<string> = []
  /** Submodules have submodules and worktrees of their own, and so have worktrees. */
  const collect = async (repository: string): Promise<void> => {
    if (repositories.includes(repository)) return
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
