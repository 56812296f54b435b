/** The commands that a run executes on its own, and what names exactly them. Pure. */
import { createHash } from "node:crypto"
import { type Config, get, type Source } from "../config/Config.ts"

/** Settings whose values are run by a shell. */
const settings = ["gates.quality", "workspace.postCreate"] as const

/** The commands of one setting, and where they were read. */
export interface Commands {
  readonly setting: (typeof settings)[number]
  readonly source: Source
  /** A file for people: `reprise.toml`, or the plan's path. */
  readonly from: string
  readonly commands: ReadonlyArray<string>
}

/** Without the settings that name no command. */
export const commandsOf = (config: Config): ReadonlyArray<Commands> =>
  settings.flatMap((setting) => {
    const commands = get<ReadonlyArray<string>>(config, setting)
    const { name, source } = config.get(setting) ?? { source: "default" as const }
    return commands.length === 0 ? [] : [{ setting, source, from: name ?? source, commands }]
  })

/** Those that a run with these options executes. */
export const commandsOfRun = (
  config: Config,
  { skipQuality, worktree }: { readonly skipQuality: boolean; readonly worktree: boolean }
): ReadonlyArray<Commands> =>
  commandsOf(config).filter(({ setting }) => (setting === "gates.quality" ? !skipQuality : worktree))

/**
 * Stands for these commands, in this order, for this purpose. Where they were read does not matter: what was allowed to
 * run for a plan may run for `reprise.toml`.
 */
export const digestOf = ({ commands, setting }: Pick<Commands, "setting" | "commands">): string =>
  createHash("sha256")
    .update(JSON.stringify([setting, ...commands]))
    .digest("hex")

/** A line for each command, under the file that names it. */
export const commandLines = (all: ReadonlyArray<Commands>): string =>
  all
    .map(({ commands, from, setting }) =>
      [`${from}, ${setting}:`, ...commands.map((command) => `  ${command}`)].join("\n")
    )
    .join("\n")
