/** Where the git of a workspace keeps what it obeys. Reads only. */
import { basename, dirname, isAbsolute, join, resolve } from "node:path"
import { readForeignText, replacementFolders } from "@reprise/process"
import { type Environment, type GitRepository, gitConfigurationOf, gitRepositoryOf, homeOf } from "./askGit.ts"
import { commandFiles } from "./commandFiles.ts"
import { entriesIn } from "./foldersOfUser.ts"
import { find, findAll, makeLeadsTo, pathsOf, waysTo } from "./found.ts"
import { gitDirectoriesOf } from "./gitDirectories.ts"
import { type GitSetting, type NamedPath, namedByEnvironment, wordsOfCommand } from "./gitKeys.ts"
import { requireFewTrees } from "./keptLimits.ts"
import { type Spend, unlimited } from "./lookLimits.ts"
import { isWithin } from "./mounts.ts"
import type { GitPlaces } from "./policy.ts"

/**
 * In the directory of a repository: what runs, what says what runs, whom git trusts and what it does not show. `grafts`, `shallow`
 * and refs that replace objects make another history; an `alternates` brings the objects of a repository that commands may not read into this one.
 */
const obeyedInRepository = [
  ...["hooks", "config", "config.worktree", "commondir", "remotes", "branches"],
  ...[
    "info/attributes",
    "info/exclude",
    "info/grafts",
    "info/sparse-checkout",
    "objects/info/alternates",
    "objects/info/http-alternates"
  ],
  // Its being there has every commit remember conflicts.
  "rr-cache",
  "shallow",
  // Other programs obey these: commands of lazygit, settings of Sapling and of GitLab's `glab`. A folder `safe` makes `bin` of the
  // tree part of the `PATH` of those who put `.git/safe/../../bin` in it.
  ...["lazygit.yml", "sl", "glab-cli", "safe"]
]

/**
 * In the directory of a working tree, obeyed by the next commit or merge: whose content is a resolved conflict, by paths that may lead
 * anywhere, and which commit is then unpacked into the tree, with hooks and settings.
 */
export const obeyedByCommits: ReadonlyArray<string> = ["MERGE_RR", "MERGE_AUTOSTASH"]

const obeyedInWorktree = [...obeyedByCommits, "commondir", "gitdir", "config.worktree", "info/sparse-checkout"]

/** What Reprise keeps in the directory of a working tree, and believes: which tree it is, for the run that works there. */
const ofReprise = "reprise-workspace.json"

/**
 * In the directory of the repository, and may appear there at any time: which clone it is, for Reprise; and the key with which
 * the filter of git-crypt encrypts, since with another one somebody else could read what is pushed.
 */
const keptIfThere = ["reprise.json", "git-crypt"]

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

interface LinkedTree {
  /** The git directory. */
  readonly directory: string
  /** Where the working tree is or was, as the directory says. Undefined: it does not say it. */
  readonly tree: string | undefined
}

const linkedTreesOf = (worktrees: ReadonlyArray<string>): Promise<ReadonlyArray<LinkedTree>> => {
  const leadsTo = makeLeadsTo()
  return Promise.all(
    worktrees.map(async (directory) => {
      const text = await readForeignText(join(directory, "gitdir"), {
        largestBytes: largestPointer,
        follow: false
      }).catch(() => undefined)
      return {
        directory,
        tree: text === undefined ? undefined : leadsTo(dirname(resolve(directory, text.trimEnd())))
      }
    })
  )
}

/** Whether a tree is one that the commands of a workspace work in. Those of runs lie in the folder of the user's own tree. */
const isOfWorkspace = ({ common, workspace }: GitRepository, { tree }: LinkedTree): boolean => {
  const ofRuns = join(dirname(common), ".reprise")
  return tree !== undefined && isWithin(tree, workspace) && (isWithin(workspace, ofRuns) || !isWithin(tree, ofRuns))
}

/** Where working trees of the repository are. Those of runs that another workspace has are no place of its. */
const placesOfTrees = (
  { common, workspace }: GitRepository,
  trees: ReadonlyArray<LinkedTree>
): ReadonlyArray<string> => {
  const ofRuns = join(dirname(common), ".reprise")
  return trees
    .flatMap(({ tree }) => (tree === undefined ? [] : (find(tree)?.path ?? [])))
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
 * Undefined: the folder has no `.git`. Rejected where git does not say what it obeys there, or that is more than can be kept
 * (`keptLimits.ts`). `workspace`: real. `environment`: of the user, whose configuration counts.
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
  const trees = await linkedTreesOf(worktrees)
  const linked = placesOfTrees(repository, trees)
  requireFewTrees({ workspace, common, directories: [...repositories, ...worktrees], trees: linked })
  const bases: Bases = {
    workTrees: [...new Set([workspace, ...linked, ...workTreesIn(settings)])],
    home: homeOf(environment)
  }
  const placesOf = (which: ReadonlyArray<NamedPath>) => which.flatMap((one) => placesNamed(one, bases))
  const hookFolders = placesOf(named.filter(({ as }) => as === "hooks"))
  const others = placesOf([...named.filter(({ as }) => as !== "hooks"), ...namedByEnvironment(environment)])
  const linkedHooks = [...repositories.map((one) => join(one, "hooks")), ...hookFolders].map(hooksIn)
  const asNamed = [
    ...repositories.flatMap((one) =>
      [...obeyedInRepository, ...obeyedByCommits, ...replacementFolders(environment)].map((name) => join(one, name))
    ),
    ...worktrees.flatMap((one) => obeyedInWorktree.map((name) => join(one, name))),
    join(directory, ofReprise),
    ...files,
    ...foldersOfUser(environment).flatMap((folder) => ["attributes", "ignore"].map((name) => join(folder, name))),
    ...hookFolders.flatMap((folder) => hooksNamed(folder, bases)),
    ...(await Promise.all(linkedHooks)).flat(),
    // Whoever opens such a tree, opens it at its top.
    ...linked.flatMap((tree) => (tree === workspace ? [] : commandFiles.map((name) => join(tree, name)))),
    ...others
  ]
  // A folder of the user's own, such as `~/.config/git`, may be a link into the workspace.
  const leading = asNamed.map(makeLeadsTo())
  const obeyed = [...asNamed, ...leading].filter((path) => !isWithin(workspace, path))
  // Reprise may prepare another working tree at any time.
  const kept = [...keptIfThere, ofReprise].map((name) => join(common, name))
  const ofOthers = worktrees.map((one) => join(one, ofReprise))
  return {
    directory,
    common,
    ...(pointer === undefined ? {} : { pointer }),
    others: trees
      .filter((one) => one.directory !== directory && !isOfWorkspace(repository, one))
      .map((one) => one.directory),
    executable: pathsOf(findAll([...obeyed, ...kept, ...ofOthers])),
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

/** Where git looks for hooks. */
export const hooksOf = ({ common }: Pick<GitRepository, "common">): string => join(common, "hooks")

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
