/**
 * Which files and folders a human may be asked about when a command wants to write there. Whatever runs outside of the
 * sandbox later, holds a key or says what others may do is never asked about (docs/design/workspace.md#sandbox). Pure.
 */
import { bearsCommands } from "./commandFiles.ts"
import { isWithin } from "./mounts.ts"
import type { Found } from "./policy.ts"

export interface Bounds {
  readonly home: string | undefined
  readonly workspace: string
  readonly stateDirectory: string
  /** Keys and credentials, what `sandbox.deny` names, git's own folders and those of `PATH`, whether they exist or not. */
  readonly closed: ReadonlyArray<string>
}

/** Programs, and settings of programs that start by themselves. */
const systemFolders: ReadonlySet<string> = new Set([
  ...["bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "nix", "opt", "proc", "root", "run", "sbin"],
  ...["snap", "sys", "tmp", "usr", "var"]
])

const closedNames: ReadonlySet<string> = new Set([".git", ".reprise", ".ssh"])

/** As they are called everywhere, also where `PATH` does not have them now. */
const programFolderNames: ReadonlySet<string> = new Set(["bin", "sbin", "shims"])

/** Whether it says what other programs run or allow, wherever it stands. */
export const isClosed = (path: string): boolean =>
  bearsCommands(path) || path.split("/").some((name) => closedNames.has(name.toLowerCase()))

/** What starts with a dot in a home is settings of programs, which may run what they name. */
const isOpenInHome = (inner: string): boolean => {
  const [first = "", ...rest] = inner.split("/")
  if (first === ".cache") return rest.length > 0
  return first !== "" && !first.startsWith(".")
}

const isOpenFolder = (path: string, home: string | undefined): boolean => {
  if (home !== undefined && isWithin(path, home)) return isOpenInHome(path.slice(home.length + 1))
  return !systemFolders.has(path.split("/")[1] ?? "") && path.split("/").length > 2
}

/** `path`: real, of something that exists. */
export const isOpenPlace = ({ path }: Pick<Found, "path">, bounds: Bounds): boolean => {
  const { closed, home, stateDirectory, workspace } = bounds
  const kept = [workspace, stateDirectory, ...closed, ...(home === undefined ? [] : [home])]
  return (
    !isClosed(path) &&
    !path.split("/").some((name) => programFolderNames.has(name)) &&
    !kept.some((one) => isWithin(one, path)) &&
    ![workspace, stateDirectory, ...closed].some((one) => isWithin(path, one)) &&
    isOpenFolder(path, home)
  )
}
