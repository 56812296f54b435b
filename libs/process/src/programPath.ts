/**
 * Where programs are looked up. `npx` and npm scripts put `node_modules/.bin` of the repository before the user's folders, and
 * a repository's own tools may too: what agents can write there must not run outside of the sandbox under the name of git.
 */
import { existsSync } from "node:fs"
import { delimiter, dirname, isAbsolute, join, resolve, sep } from "node:path"

/** Names the folders of the repository that were on `PATH`: commands of agents and quality gates still find them. */
export const treePathVariable = "REPRISE_TREE_PATH"

/** For a `PATH` that has nothing else. */
const usual = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

const isWithin = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}${sep}`)

/** The folders of a `PATH` that no command in `tree` can write, and the others. Relative ones depend on where one is. */
export const splitPath = (
  path: string,
  tree: string | undefined
): { readonly outside: string; readonly inTree: string } => {
  const folders = path.split(delimiter).filter((folder) => folder !== "")
  const isOutside = (folder: string) => isAbsolute(folder) && (tree === undefined || !isWithin(resolve(folder), tree))
  return {
    outside: folders.filter(isOutside).join(delimiter) || usual,
    inTree: folders.filter((folder) => !isOutside(folder)).join(delimiter)
  }
}

/** The working tree around a folder, as it is named; undefined: there is none, or it is the home folder. Runs no program. */
export const treeAround = (folder: string, home: string | undefined): string | undefined => {
  const worktrees = folder.indexOf(`${sep}.reprise${sep}worktrees${sep}`)
  if (worktrees >= 0) return treeAround(folder.slice(0, worktrees), home)
  if (existsSync(join(folder, ".git"))) return folder === home ? undefined : folder
  const above = dirname(folder)
  return above === folder ? undefined : treeAround(above, home)
}

/** Takes the folders of the working tree around `folder` off the `PATH` of an environment, and notes them. */
export const withoutTreePath = (
  environment: Readonly<Record<string, string | undefined>>,
  folder: string
): Record<string, string | undefined> => {
  const { inTree, outside } = splitPath(environment["PATH"] ?? "", treeAround(folder, environment["HOME"]))
  const known = environment[treePathVariable]
  const noted = [known, inTree].filter((one) => one !== undefined && one !== "").join(delimiter)
  return { ...environment, PATH: outside, ...(noted === "" ? {} : { [treePathVariable]: noted }) }
}
