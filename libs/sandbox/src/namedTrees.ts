/**
 * Working trees that configurations of repositories inside of a workspace name by `core.worktree`. git writes there what a commit
 * has, so any but its own could be where a program finds what to obey. Reads only.
 */
import { stat } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { exists, makeLeadsTo, waysTo } from "./found.ts"
import { directoryOf, isBare, realFrom } from "./gitPointers.ts"
import { isWithin } from "./mounts.ts"
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
const isInGitDirectory = async (folder: string, workspace: string): Promise<boolean> => {
  if (folder === workspace || !isWithin(folder, workspace)) return false
  const isOne = basename(folder).toLowerCase() === ".git" || (exists(join(folder, "HEAD")) && (await isBare(folder)))
  return isOne || isInGitDirectory(dirname(folder), workspace)
}

/** `directory`: of git, for which the value is relative. `dependsOn` takes what can become another tree by a rename. */
export const namedTreeAt = async (
  value: string,
  directory: string,
  place: Place & { readonly dependsOn: (path: string) => void }
): Promise<NamedTree> => {
  const tree = await realFrom(directory, value)
  const ways = waysTo(directory, value)
  if (!/^[./]*$/.test(value) && isSearched(directory, place)) for (const way of ways) place.dependsOn(way)
  if (value.includes(noText)) return { tree, isOwn: false }
  if (tree !== undefined) {
    const leads = await directoryOf(join(tree, ".git"))
    return { tree, isOwn: leads === directory && !(await isInGitDirectory(tree, place.workspace)) }
  }
  const isThere = await Promise.all(ways.map((way) => stat(way).catch(() => undefined)))
  const leadsTo = makeLeadsTo()
  return {
    tree,
    isOwn: isThere.every((one) => one === undefined) && ways.every((way) => isSearched(leadsTo(way), place))
  }
}
