/**
 * Working trees that configurations of repositories inside of a workspace name by `core.worktree`. git writes there what a commit
 * has, so any but its own could be where a program finds what to obey. Reads only.
 */
import { stat } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { exists, makeLeadsTo, waysTo } from "../disk/pathsOnDisk.ts"
import { isWithin } from "../policy/mounts.ts"
import { directoryOf, isBare, realFrom } from "./gitPointers.ts"
import { isSearched, type Place } from "./treeSearch.ts"

/** Stands for bytes of a value that are no UTF-8: what it names is at another path. */
export const noText = "\ufffd"

export interface NamedTree {
  /** Real; undefined: nothing is there. */
  readonly tree: string | undefined
  /** Its `.git` leads to the repository. One that is not there is, if a look finds when it is made. */
  readonly isOwn: boolean
}

/** Whether git would find what it obeys in the folder, were it another one's tree. */
const isInGitDirectory = async (folder: string, place: Place): Promise<boolean> => {
  const { git, workspace } = place
  if (folder === workspace) return false
  if (!isWithin(folder, workspace)) {
    return git !== undefined && [git.common, git.directory].some((one) => isWithin(folder, one))
  }
  const isOne = basename(folder).toLowerCase() === ".git" || (exists(join(folder, "HEAD")) && (await isBare(folder)))
  return isOne || isInGitDirectory(dirname(folder), place)
}

/** `directory`: of git, for which the value is relative. `dependsOn` takes what can become another tree by a rename. */
export const namedTreeAt = async (
  value: string,
  directory: string,
  place: Place & { readonly dependsOn: (path: string) => void }
): Promise<NamedTree> => {
  const tree = realFrom(directory, value)
  const ways = waysTo(directory, value)
  const isFound = isSearched(directory, place)
  // From a real folder `..` alone leads nowhere else.
  if (isFound && !/^[./]*$/.test(value)) for (const way of ways) place.dependsOn(way)
  if (value.includes(noText)) return { tree, isOwn: false }
  if (tree !== undefined) {
    const leads = await directoryOf(join(tree, ".git"))
    return { tree, isOwn: leads === directory && !(await isInGitDirectory(tree, place)) }
  }
  const isThere = await Promise.all(ways.map((way) => stat(way).catch(() => undefined)))
  const leadsTo = makeLeadsTo()
  // No pointer leads to a submodule of the workspace whose tree is not there.
  const isPlain = !isFound || ways.every((way) => isSearched(leadsTo(way), place))
  return { tree, isOwn: isPlain && isThere.every((one) => one === undefined) }
}
