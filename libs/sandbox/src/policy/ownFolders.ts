/**
 * Folders of Reprise and of OpenCode, which run programs from them and obey what is in them, outside of the sandbox: a nats-server
 * and agents that were fetched, packages of plugins, what the user trusted. No command writes there, whatever `sandbox.write` names
 * (docs/design/workspace.md#sandbox).
 */
import { mkdir } from "node:fs/promises"
import { isAbsolute, join } from "node:path"
import { findAll, makeLeadsTo, pathsOf } from "../disk/pathsOnDisk.ts"
import { isWithin } from "./mounts.ts"

type Environment = Readonly<Record<string, string | undefined>>

const bases: ReadonlyArray<readonly [variable: string, usual: string]> = [
  ["XDG_CACHE_HOME", ".cache"],
  ["XDG_CONFIG_HOME", ".config"],
  ["XDG_DATA_HOME", ".local/share"],
  ["XDG_STATE_HOME", ".local/state"]
]

const foldersOf = (owner: string, environment: Environment, home: string) =>
  bases.flatMap(([variable, usual]) => {
    const named = environment[variable] ?? ""
    return [...(isAbsolute(named) ? [named] : []), join(home, usual)].map((place) => join(place, owner))
  })

/** Whether they exist or not; also where they are without the variables, for a Reprise that is started elsewhere. Pure. */
export const ownFolders = (environment: Environment, home: string) => ({
  reprise: [...new Set(foldersOf("reprise", environment, home))],
  opencode: [...new Set(foldersOf("opencode", environment, home))]
})

/** The same, as they are named and where they lead. */
export const ownFoldersOnDisk = (environment: Environment, home: string) => {
  const { opencode, reprise } = ownFolders(environment, home)
  const leadsTo = makeLeadsTo()
  const both = (named: ReadonlyArray<string>) => [...new Set([...named, ...named.map(leadsTo)])]
  return { reprise: both(reprise), opencode: both(opencode) }
}

/**
 * Makes those that commands could make in places that are `written`. What appears there while a command runs would count for the
 * command's, and be put aside.
 */
export const makeOwnFolders = async (
  environment: Environment,
  home: string,
  written: ReadonlyArray<string>
): Promise<void> => {
  const { opencode, reprise } = ownFoldersOnDisk(environment, home)
  const places = pathsOf(findAll(written))
  for (const path of [...reprise, ...opencode]) {
    if (places.some((folder) => isWithin(path, folder))) await mkdir(path, { recursive: true, mode: 0o700 })
  }
}

/** Real places that settings let commands, or an agent as a whole, write. */
interface Wished {
  readonly settings: ReadonlyArray<string>
  readonly agent: ReadonlyArray<string>
  /** It may lie in one of the folders, as a clone of a host does. */
  readonly workspace: string
}

const refusal = (by: string, path: string, folder: string) =>
  new Error(
    `${by} names ${path}, but programs are started from ${folder} outside of the sandbox, so nothing in it writes there. ` +
      `Take it out of ${by}, or name another folder.`
  )

/**
 * The folders of Reprise, and those of OpenCode that the agent does not need to write itself, which protects in them what is
 * obeyed. Throws where a setting names one, or a place in one.
 */
export const neverWritten = (
  environment: Environment,
  home: string,
  { agent, settings, workspace }: Wished
): ReadonlyArray<string> => {
  const { opencode, reprise } = ownFoldersOnDisk(environment, home)
  const refuse = (by: string, paths: ReadonlyArray<string>, folders: ReadonlyArray<string>) => {
    for (const path of paths) {
      const folder = isWithin(path, workspace) ? undefined : folders.find((one) => isWithin(path, one))
      if (folder !== undefined) throw refusal(by, path, folder)
    }
  }
  refuse("sandbox.write", settings, [...reprise, ...opencode])
  refuse("sandbox.agentWrite", agent, reprise)
  return [...reprise, ...opencode.filter((folder) => !agent.includes(folder))]
}
