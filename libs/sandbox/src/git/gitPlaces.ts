/** Where the git of a workspace keeps what it obeys. Reads only. */
import { basename, dirname, isAbsolute, join, resolve } from "node:path"
import { readForeignText } from "@reprise/process"
import { find, findAll, makeLeadsTo, pathsOf, waysTo } from "../disk/pathsOnDisk.ts"
import { type Spend, unlimited } from "../nested/lookLimits.ts"
import { commandFiles } from "../policy/commandFiles.ts"
import { entriesIn } from "../policy/foldersOfUser.ts"
import { isWithin } from "../policy/mounts.ts"
import { type GitPlaces, isOfGit } from "../policy/policy.ts"
import { type Environment, type GitRepository, gitConfigurationOf, gitRepositoryOf, homeOf } from "./askGit.ts"
import { gitDirectoriesOf } from "./gitDirectories.ts"
import { type GitSetting, type NamedPath, namedByEnvironment, wordsOfCommand } from "./gitKeys.ts"

/** In the directory of a repository. Only its user can have made one of them a link into the working tree. */
const obeyedInRepository = ["hooks", "info/attributes", "info/exclude", "info/sparse-checkout"]

/** githooks(5). They are named one by one where the whole working tree is the folder of the hooks. */
const hookNames = [
  ...["applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit", "prepare-commit-msg"],
  ...["commit-msg", "post-commit", "pre-rebase", "post-checkout", "post-merge", "pre-push", "pre-receive", "update"],
  ...["proc-receive", "post-receive", "post-update", "reference-transaction", "push-to-checkout", "pre-auto-gc"],
  ...["post-rewrite", "sendemail-validate", "fsmonitor-watchman", "p4-changelist", "p4-prepare-changelist"],
  ...["p4-post-changelist", "p4-pre-submit", "post-index-change"]
]

const foldersOfUser = (environment: Environment): ReadonlyArray<string> => {
  const xdg = environment["XDG_CONFIG_HOME"] ?? ""
  return [...(isAbsolute(xdg) ? [join(xdg, "git")] : []), join(homeOf(environment), ".config", "git")]
}

/** Files that git reads if they are there, besides those that it tells of. */
const configurationsOfUser = (workspace: string, environment: Environment): ReadonlyArray<string> => {
  const named = ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"].map((name) => environment[name] ?? "")
  return [
    ...foldersOfUser(environment).map((folder) => join(folder, "config")),
    ...[join(homeOf(environment), ".gitconfig"), "/etc/gitconfig"],
    ...named.filter((path) => path !== "").map((path) => resolve(workspace, path))
  ]
}

/** Where the submodules are checked out, as their configuration has it. */
const workTreesIn = (settings: ReadonlyArray<GitSetting>): ReadonlyArray<string> =>
  settings.flatMap(({ file, key, value }) =>
    key === "core.worktree" && file !== undefined && value !== undefined ? [resolve(dirname(file), value)] : []
  )

const largestPointer = 1024 * 1024

/** Where the working trees of other worktrees are or were, as git's directories of these say. */
const linkedTreesOf = async (worktrees: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const leadsTo = makeLeadsTo()
  const pointers = worktrees.map(async (directory) => {
    const path = join(directory, "gitdir")
    const text = await readForeignText(path, { largestBytes: largestPointer, follow: false }).catch(() => undefined)
    return text === undefined ? [] : [leadsTo(dirname(resolve(directory, text.trimEnd())))]
  })
  return (await Promise.all(pointers)).flat()
}

/** Where working trees of the repository are. Those of runs that another workspace has are no place of its. */
const placesOfTrees = ({ common, workspace }: GitRepository, trees: ReadonlyArray<string>): ReadonlyArray<string> => {
  const ofRuns = join(dirname(common), ".reprise")
  return trees
    .flatMap((tree) => find(tree)?.path ?? [])
    .filter((tree) => isWithin(tree, workspace) || !isWithin(tree, ofRuns))
}

/** git runs a hook that is a link to a file of the workspace, too. */
const hooksIn = async (folder: string): Promise<ReadonlyArray<string>> =>
  (await entriesIn(folder)).filter((entry) => entry.isSymbolicLink()).map(({ name }) => join(folder, name))

interface Bases {
  /** What paths may be relative to: git works in the working tree, also in that of a submodule. */
  readonly workTrees: ReadonlyArray<string>
  readonly home: string
}

/** A folder is none of those: the command works in it, or finds programs there, so what the other words name is looked for in it. */
export const filesOfCommand = (
  text: string,
  { home, workTrees }: Bases,
  spend: Spend = unlimited
): ReadonlyArray<string> => {
  const words = wordsOfCommand(text, home)
  const filesFrom = (base: string, isInner: boolean): ReadonlyArray<string> => {
    spend(words.length)
    return words.flatMap(({ isPath, path }): ReadonlyArray<string> => {
      const at = resolve(base, path)
      const kind = find(at)?.kind
      if (kind === "folder") return isInner || at === base || !isWithin(at, base) ? [] : filesFrom(at, true)
      return kind === "file" || (kind === undefined && isPath && !isInner) ? [at] : []
    })
  }
  return workTrees.flatMap((base) => filesFrom(base, false))
}

const placesNamed = ({ as, text }: NamedPath, bases: Bases): ReadonlyArray<string> =>
  as === "program" ? filesOfCommand(text, bases) : bases.workTrees.flatMap((base) => waysTo(base, text))

/**
 * A folder of hooks is named as a whole, unless it is that of all files. What husky names `_` runs the hooks in the folder
 * around it.
 */
const hooksNamed = (named: string, { workTrees }: Bases): ReadonlyArray<string> => {
  const folder = basename(named) === "_" ? dirname(named) : named
  return workTrees.includes(folder) ? [named, ...hookNames.map((name) => join(folder, name))] : [folder]
}

/**
 * Undefined: the folder has no `.git`. Rejected where git does not say what it obeys there. `workspace`: real. `environment`: of the
 * user, whose configuration counts.
 */
export const gitPlacesOf = async (workspace: string, environment: Environment): Promise<GitPlaces | undefined> => {
  const repository = await gitRepositoryOf(workspace, environment)
  if (repository === undefined) return undefined
  const { common, directory, pointer } = repository
  const { repositories, worktrees } = await gitDirectoriesOf(repository)
  const more = [
    ...repositories.flatMap((one) => [join(one, "config"), join(one, "config.worktree")]),
    ...worktrees.map((one) => join(one, "config.worktree")),
    ...configurationsOfUser(workspace, environment)
  ]
  const { files, named, settings } = await gitConfigurationOf(repository, environment, more)
  const linked = placesOfTrees(repository, await linkedTreesOf(worktrees))
  const bases: Bases = {
    workTrees: [...new Set([workspace, ...linked, ...workTreesIn(settings)])],
    home: homeOf(environment)
  }
  const placesOf = (which: ReadonlyArray<NamedPath>) => which.flatMap((one) => placesNamed(one, bases))
  const hookFolders = placesOf(named.filter(({ as }) => as === "hooks"))
  const others = placesOf([...named.filter(({ as }) => as !== "hooks"), ...namedByEnvironment(environment)])
  const linkedHooks = [...repositories.map((one) => join(one, "hooks")), ...hookFolders].map(hooksIn)
  const asNamed = [
    ...repositories.flatMap((one) => obeyedInRepository.map((name) => join(one, name))),
    ...files,
    ...foldersOfUser(environment).flatMap((folder) => ["attributes", "ignore"].map((name) => join(folder, name))),
    ...hookFolders.flatMap((folder) => hooksNamed(folder, bases)),
    ...(await Promise.all(linkedHooks)).flat(),
    // Whoever opens such a tree, opens it at its top, and git looks there for its directory.
    ...linked.flatMap((tree) => (tree === workspace ? [] : [...commandFiles, ".git"].map((name) => join(tree, name)))),
    ...others
  ]
  // A folder of the user's own, such as `~/.config/git`, may be a link into the workspace.
  const leading = asNamed.map(makeLeadsTo())
  // No command writes git's own directories.
  const obeyed = [...asNamed, ...leading].filter((path) => !isWithin(workspace, path) && !isOfGit(path, repository))
  return {
    directory,
    common,
    ...(pointer === undefined ? {} : { pointer }),
    executable: pathsOf(findAll(obeyed)).filter((path) => !isOfGit(path, repository)),
    obeyed: [...new Set(obeyed)]
  }
}

/** What the configuration of a repository and of its user names in a working tree of it. Below the tree. */
export const placesInTree = async (
  repository: GitRepository,
  environment: Environment,
  tree: string
): Promise<ReadonlyArray<string>> => {
  const { repositories, worktrees } = await gitDirectoriesOf(repository)
  const more = [
    ...[...repositories, ...worktrees].flatMap((one) => [join(one, "config"), join(one, "config.worktree")]),
    ...configurationsOfUser(repository.workspace, environment)
  ]
  const { named } = await gitConfigurationOf(repository, environment, more)
  const bases: Bases = { workTrees: [tree], home: homeOf(environment) }
  const all = [...named, ...namedByEnvironment(environment)].flatMap((one) => {
    const places = placesNamed(one, bases)
    return one.as === "hooks" ? places.flatMap((folder) => hooksNamed(folder, bases)) : places
  })
  return [...new Set(all)].filter((path) => path !== tree && isWithin(path, tree))
}

/** Folders of hooks relative to a working tree, whichever it is: a repository inside of the workspace has them as well. */
export const relativeHooksOf = async (repository: GitRepository, environment: Environment) => {
  const user = configurationsOfUser(repository.workspace, environment)
  const { named } = await gitConfigurationOf(repository, environment, user)
  const isOwn = (file: string | undefined) => file !== undefined && isWithin(file, repository.common)
  return [
    ...new Set(
      named.flatMap(({ as, file, text }) => (as === "hooks" && !isAbsolute(text) && !isOwn(file) ? [text] : []))
    )
  ]
}
