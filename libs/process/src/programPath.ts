/**
 * Where programs are looked up. `npx` and npm scripts put `node_modules/.bin` of the repository before the user's folders, and
 * a repository's own tools may too: what agents can write there must not run outside of the sandbox under the name of git.
 */
import { existsSync, realpathSync } from "node:fs"
import { delimiter, dirname, isAbsolute, join, resolve, sep } from "node:path"

/** Names the folders of the repository that were on `PATH`: commands of agents and quality gates still find them. */
export const treePathVariable = "REPRISE_TREE_PATH"

/** For a `PATH` that has nothing else. */
const usual = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

const isWithin = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}${sep}`)

const realOf = (path: string): string => {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/**
 * The folders of a `PATH` that no command in `trees` can write, and the others. Relative ones depend on where one is; of one
 * that is a link, both ends count.
 */
export const splitPath = (
  path: string,
  trees: ReadonlyArray<string>
): { readonly outside: string; readonly inTree: string } => {
  const folders = path.split(delimiter).filter((folder) => folder !== "")
  const all = [...new Set([...trees, ...trees.map(realOf)])]
  const isInTree = (folder: string) =>
    [resolve(folder), realOf(folder)].some((one) => all.some((tree) => isWithin(one, tree)))
  const isOutside = (folder: string) => isAbsolute(folder) && !isInTree(folder)
  return {
    outside: folders.filter(isOutside).join(delimiter) || usual,
    inTree: folders.filter((folder) => !isOutside(folder)).join(delimiter)
  }
}

/**
 * The working trees around a folder: also those around the nearest one, which a command may have made. Without the home folder,
 * which some keep in git, and in which all of their programs are. Runs no program.
 */
export const treesAround = (folder: string, home: string | undefined): ReadonlyArray<string> => {
  const own = existsSync(join(folder, ".git")) && folder !== home ? [folder] : []
  const above = dirname(folder)
  return above === folder ? own : [...own, ...treesAround(above, home)]
}

/** One that is not there yet could be made, with a `git` in it, by a command that may write there. */
const thatExist = (path: string): string =>
  path
    .split(delimiter)
    .filter((folder) => existsSync(folder))
    .join(delimiter) || usual

/** Takes the folders of the working tree around `folder` off the `PATH` of an environment, and notes them; also those that do not exist. */
export const withoutTreePath = (
  environment: Readonly<Record<string, string | undefined>>,
  folder: string
): Record<string, string | undefined> => {
  const { inTree, outside } = splitPath(environment["PATH"] ?? "", treesAround(folder, environment["HOME"]))
  const known = environment[treePathVariable]
  const noted = [known, inTree].filter((one) => one !== undefined && one !== "").join(delimiter)
  return { ...environment, PATH: thatExist(outside), ...(noted === "" ? {} : { [treePathVariable]: noted }) }
}
