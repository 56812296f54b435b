/**
 * Files of a git directory by which a change stays out of what git shows: patterns of files that it leaves out of the status or
 * calls binary, other parents of a commit, objects from elsewhere. Reads only.
 */
import { join } from "node:path"
import { findAll, pathsOf } from "./found.ts"
import type { GitPlaces } from "./policy.ts"

const names = ["info/exclude", "info/attributes", "info/grafts", "info/sparse-checkout", "objects/info/alternates"]

/** These count as what git obeys: a command cannot change them, and must not make them. */
export const withInfo = async (git: GitPlaces | undefined): Promise<GitPlaces | undefined> => {
  if (git === undefined) return undefined
  const paths = git.directories.flatMap((directory) => names.map((name) => join(directory, name)))
  return {
    ...git,
    obeyed: [...new Set([...git.obeyed, ...paths])],
    executable: [...new Set([...git.executable, ...pathsOf(await findAll(paths))])]
  }
}
