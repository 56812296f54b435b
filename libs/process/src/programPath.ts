/**
 * Where programs are looked up. `npx` and npm scripts put `node_modules/.bin` of the repository before the user's folders, and
 * a repository's own tools may too: what agents can write there must not run outside of the sandbox under the name of git.
 */
import { existsSync, realpathSync } from "node:fs"
import { basename, delimiter, dirname, isAbsolute, join, resolve, sep } from "node:path"
import { codeVariables, loadedAtStart, trustedValue } from "./codeVariables.ts"

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Of each variable from which something was taken, what commands of agents and quality gates still get: of `PATH` the folders of
 * the repository, of all others the whole value.
 */
const noteOf = (name: string) => `REPRISE_TREE_${name}`

/** Names the folders of the repository that were on `PATH`. */
export const treePathVariable = noteOf("PATH")

/** For a `PATH` that has nothing else. */
const usual = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

const isWithin = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}${sep}`)

/** Of one that does not exist, as far as there is something on the way. */
const realOf = (path: string): string => {
  try {
    return realpathSync(path)
  } catch {
    const above = dirname(path)
    return above === path ? path : join(realOf(above), basename(path))
  }
}

/** Whether an absolute path leads to none of the places, which commands can write. Of one that is a link, both ends count. */
const outsideOf = (places: ReadonlyArray<string>) => {
  const all = [...new Set([...places, ...places.map(realOf)])]
  return (path: string) => ![resolve(path), realOf(path)].some((one) => all.some((place) => isWithin(one, place)))
}

/** The folders of a `PATH` that no command in `trees` can write, and the others. Relative ones depend on where one is. */
export const splitPath = (
  path: string,
  trees: ReadonlyArray<string>
): { readonly outside: string; readonly inTree: string } => {
  const folders = path.split(delimiter).filter((folder) => folder !== "")
  const isTrusted = outsideOf(trees)
  const isOutside = (folder: string) => isAbsolute(folder) && isTrusted(folder)
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

/**
 * The variables by which programs take code, without what leads to `places`, which commands can write. One that is undefined was
 * taken as a whole. What does not exist is taken too: a command that may write there could make it.
 */
export const withoutPlaces = (
  environment: Environment,
  places: ReadonlyArray<string>
): Record<string, string | undefined> => {
  const isTrusted = outsideOf(places)
  const changed = codeVariables.flatMap((name): ReadonlyArray<readonly [string, string | undefined]> => {
    const value = environment[name]
    const trusted = value === undefined ? value : trustedValue(name, value, { isTrusted, isThere: existsSync })
    return trusted === value ? [] : [[name, trusted]]
  })
  return { ...environment, ...Object.fromEntries(changed) }
}

/**
 * Takes what leads to the working tree around `folder` out of the variables by which programs take code, and notes it for commands
 * in the sandbox. Of `PATH` also the folders that do not exist.
 */
export const withoutTree = (environment: Environment, folder: string): Record<string, string | undefined> => {
  const trees = treesAround(folder, environment["HOME"])
  const { inTree, outside } = splitPath(environment["PATH"] ?? "", trees)
  const noted = [environment[treePathVariable], inTree].filter((one) => one !== undefined && one !== "").join(delimiter)
  const cleaned = withoutPlaces(environment, trees)
  const notes = codeVariables.flatMap((name) =>
    cleaned[name] === environment[name] ? [] : [[noteOf(name), environment[name]] as const]
  )
  return {
    ...cleaned,
    ...Object.fromEntries(notes),
    PATH: thatExist(outside),
    ...(noted === "" ? {} : { [treePathVariable]: noted })
  }
}

/** Does so to an environment in its place, such as this process's, before any program is started. */
export const leaveTree = (environment: Record<string, string | undefined>, folder: string): void => {
  for (const [name, value] of Object.entries(withoutTree(environment, folder))) {
    if (value === undefined) delete environment[name]
    else environment[name] = value
  }
}

/** What `withoutTree` took, for commands in the sandbox. */
export interface OfTree {
  /** Folders that come before those of their `PATH`. */
  readonly path: string
  readonly variables: Readonly<Record<string, string>>
}

/** The `PATH` of a command that finds what is in the tree. */
export const pathFrom = ({ path }: OfTree, outside: string | undefined): string =>
  [path, outside ?? ""].filter((folders) => folders !== "").join(delimiter) || usual

/** Of an environment that `withoutTree` gave. `isWanted`: whether the commands get the variable. */
export const ofTree = (environment: Environment, isWanted: (name: string) => boolean = () => true): OfTree => ({
  path: environment[treePathVariable] ?? "",
  variables: Object.fromEntries(
    codeVariables.flatMap((name) => {
      const value = environment[noteOf(name)]
      return value === undefined || !isWanted(name) ? [] : [[name, value] as const]
    })
  )
})

/**
 * The variables with which Reprise itself was started, and by which Node and its loader have run code before anything could be taken
 * from them, where they lead to the working tree around `folder`. Of an environment that `withoutTree` gave.
 */
export const loadedFromTree = (environment: Environment, folder: string): ReadonlyArray<string> => {
  const isTrusted = outsideOf(treesAround(folder, environment["HOME"]))
  return Object.entries(ofTree(environment, (name) => loadedAtStart.has(name)).variables).flatMap(([name, value]) =>
    trustedValue(name, value, { isTrusted, isThere: () => true }) === value ? [] : [name]
  )
}
