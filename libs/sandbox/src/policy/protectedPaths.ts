/**
 * What commands may not change in a workspace, for whoever writes there outside of the sandbox: agents' file tools. Reads only.
 */
import { realpath } from "node:fs/promises"
import { find } from "../disk/pathsOnDisk.ts"
import { type Environment, homeOf } from "../git/askGit.ts"
import { gitPlacesOf } from "../git/gitPlaces.ts"
import { onDisk } from "../SandboxHost.ts"
import { isWithin } from "./mounts.ts"
import type { Policy } from "./policy.ts"
import { startupPlaces } from "./startupPlaces.ts"

/** Files and folders that a policy keeps as they are, whether they exist or not. Pure. */
export const protectedBy = ({ git, guarded, kept, links }: Pick<Policy, "git" | "guarded" | "kept" | "links">) => [
  ...new Set([...guarded, ...kept, ...links.map(({ path }) => path), ...(git === undefined ? [] : [git])])
]

/** The same where no command has a policy: what git and the user's programs obey in the workspace. */
const obeyedIn = async (workspace: string, environment: Environment): Promise<ReadonlyArray<string>> => {
  const home = homeOf(environment)
  const [git, startup] = await Promise.all([
    gitPlacesOf(workspace, { ...environment, HOME: home }),
    startupPlaces(find(home)?.path ?? home, environment, [workspace])
  ])
  const ofGit = git === undefined ? [] : [git.common, git.directory, ...git.obeyed, ...git.executable]
  const all = [...ofGit, ...startup]
  return [...new Set(all)].filter((path) => isWithin(path, workspace))
}

/** `policies`: those that hold in a workspace now. Without one it is looked up each time. */
export const protectedPaths = (
  directory: string,
  environment: Environment,
  policies: (workspace: string) => ReadonlyArray<Policy> = () => []
) =>
  onDisk(directory, async () => {
    const workspace = await realpath(directory)
    const held = policies(workspace)
    return held.length > 0 ? [...new Set(held.flatMap(protectedBy))] : await obeyedIn(workspace, environment)
  })
