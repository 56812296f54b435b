/**
 * Where in a working tree there may be something that programs outside of the sandbox obey: found by names alone, in one look.
 * Changes nothing but folders that their owner could not list.
 */
import { delimiter, isAbsolute, join } from "node:path"
import { Effect, Schema } from "effect"
import { exactly, findPaths, linksInto } from "../disk/findPaths.ts"
import type { GitRepository } from "../git/askGit.ts"
import type { Directories } from "../git/gitDirectories.ts"
import { isWithin } from "../policy/mounts.ts"
import { instructionSearch } from "./instructionFiles.ts"
import { skillsHome } from "./nestedSkills.ts"
import { versionSearch } from "./versionFiles.ts"

export interface Place {
  /** Real. */
  readonly workspace: string
  /** Nobody but Reprise writes there. */
  readonly stateDirectory: string
  /** A `PATH` of folders that no command can write. */
  readonly search: string
  readonly git: (Pick<GitRepository, "common" | "directory"> & Directories) | undefined
  /** Where the user's configuration has every repository look for hooks, relative to its working tree. */
  readonly hooks: ReadonlyArray<string>
  /** What the repository's configuration names in a working tree of its own, such as hooks and programs. */
  readonly namedIn: (tree: string) => Promise<ReadonlyArray<string>>
}

/**
 * Whether what a command changes at a real path is found: a look passes over the folders of git and of Reprise. A run's own
 * workspace is a folder in that of Reprise.
 */
export const isSearched = (path: string, { git, stateDirectory, workspace }: Place): boolean => {
  const folders = [join(workspace, ".git"), stateDirectory, ...(git === undefined ? [] : [git.common, git.directory])]
  const passedOver = folders.filter((folder) => isWithin(folder, workspace))
  return isWithin(path, workspace) && !passedOver.some((folder) => isWithin(path, folder))
}

/** So many places may be repositories that nobody can look at all of them. */
export class TooManyRepositories extends Schema.TaggedError<TooManyRepositories>()("TooManyRepositories", {
  workspace: Schema.String,
  most: Schema.Finite,
  /** The folder below the workspace that has most of them. */
  folder: Schema.String
}) {
  override get message() {
    return (
      `${this.workspace} has more than ${this.most} files or folders called .git or HEAD, most of them in ${this.folder}. ` +
      "Each may be a repository that git outside of the sandbox would obey, so nothing goes on here. Remove them."
    )
  }
}

/**
 * By these names git takes a folder for a repository, `HEAD` in every one without a working tree, and Claude one for its own. A folder
 * may take any case of letters for the same.
 */
const names = [
  "(",
  "-iname",
  ".git",
  "-o",
  "-iname",
  "HEAD",
  "-o",
  "-iname",
  skillsHome,
  "-o",
  ...instructionSearch,
  "-o",
  ...versionSearch,
  ")"
]

/** More than the largest tree of anybody has; to look at so many takes a minute. */
const mostCandidates = 20_000
const mostBytes = 16 * 1024 * 1024

/** By the folder directly below the workspace in which they lie: those with fewest paths come first. Pure. */
const byPlace = (
  workspace: string,
  paths: ReadonlyArray<string>
): ReadonlyArray<readonly [place: string, indices: ReadonlyArray<number>]> => {
  const places = new Map<string, Array<number>>()
  for (const [index, path] of paths.entries()) {
    const [first = ""] = path.slice(workspace.length + 1).split("/", 1)
    const known = places.get(first)
    if (known === undefined) places.set(first, [index])
    else known.push(index)
  }
  return [...places].toSorted(([, one], [, other]) => one.length - other.length)
}

/** The folder directly below the workspace with most of the paths. Pure. */
export const mostIn = (workspace: string, paths: ReadonlyArray<string>): string =>
  join(workspace, byPlace(workspace, paths).at(-1)?.[0] ?? "")

/** What is looked at, and why that is not all. */
export interface Candidates {
  readonly paths: ReadonlyArray<Buffer>
  readonly tooMany: TooManyRepositories | undefined
}

/**
 * Where in the tree a repository, skills, instructions or versions may be. The workspace's own repository is left out. Of more than `most`
 * those in folders with few of them come first: what a command makes in heaps hides nothing beside it.
 */
export const candidatesIn = Effect.fnUntraced(function* (place: Place, most = mostCandidates) {
  const { git, search, stateDirectory, workspace } = place
  // They are not searched: a link on the way there names them.
  const hidden = [stateDirectory, ...(git === undefined ? [] : [git.common, git.directory])]
  const { isCut, paths } = yield* findPaths(
    [
      workspace,
      ...["(", "-path", exactly(join(workspace, ".git")), "-o", "-path", exactly(stateDirectory), "-o"],
      ...["-path", exactly(join(workspace, skillsHome)), ")", "-prune"],
      // What cannot be listed could be entered all the same, also where its path is too long.
      ...["-o", "-type", "d", "!", "-perm", "-500", "-execdir", "chmod", "u+rx", "{}", ";", "!", "-name", "*"],
      ...["-o", "(", ...names, "-o", ...linksInto(hidden), ")", "-print0"]
    ],
    // Where a folder of the list is relative, it would run nothing.
    { mostBytes, search: search.split(delimiter).filter(isAbsolute).join(delimiter) }
  )
  if (!isCut && paths.length <= most) return { paths, tooMany: undefined } satisfies Candidates
  const texts = paths.map(String)
  const fewestFirst = byPlace(workspace, texts).flatMap(([, indices]) => indices)
  return {
    paths: fewestFirst.slice(0, most).flatMap((index) => paths[index] ?? []),
    tooMany: new TooManyRepositories({ workspace, most, folder: mostIn(workspace, texts) })
  } satisfies Candidates
})
