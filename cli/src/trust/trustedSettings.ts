/**
 * What a configuration may do with the user's machine and secrets: commands that run by themselves, permissions of
 * agents, and servers that are told everything. Pure.
 */
import { createHash } from "node:crypto"
import type { ActionSettings } from "@reprise/session-manager/settings"
import { type Config, get, type Source } from "../config/Config.ts"

/** Settings whose values are run by a shell. */
const commands = ["gates.quality", "gates.verify", "workspace.postCreate"] as const
/** Where plans, work and answers are sent, and with which credentials. */
export const serverSettings = ["nats.url", "nats.credentials"] as const
/** Where agents are told what to do, with a password of the user's, and who allows what they ask for. */
export const agentSettings = ["opencode.url", "sessions.onPrompt"] as const

const settings = [...commands, "permissions", ...serverSettings, ...agentSettings] as const
export type PowerSetting = (typeof settings)[number]

/** What one setting allows or names, and where it was read. */
export interface Power {
  readonly setting: PowerSetting
  readonly source: Source
  /** A file for people: `reprise.toml`, or the plan's path. */
  readonly from: string
  readonly values: ReadonlyArray<string>
}

/** Only an approval has power: everything else asks a human, or allows nothing. */
const approvals = (config: Config): ReadonlyArray<string> =>
  get<ActionSettings["onPrompt"]>(config, "sessions.onPrompt")
    .filter((one) => (typeof one === "string" ? one : one.action) === "approve")
    .map((one) => (typeof one === "string" ? one : JSON.stringify(one)))

const valuesOf = (config: Config, setting: PowerSetting): ReadonlyArray<string> => {
  if (setting === "sessions.onPrompt") return approvals(config)
  const value = get<ReadonlyArray<string> | string | undefined>(config, setting)
  // Agents that ask for everything have no power of their own.
  if (value === undefined || (setting === "permissions" && value === "ask")) return []
  return typeof value === "string" ? [value] : value
}

/** Without the settings that give none. */
export const powersOf = (config: Config, wanted: ReadonlyArray<PowerSetting> = settings): ReadonlyArray<Power> =>
  wanted.flatMap((setting) => {
    const values = valuesOf(config, setting)
    const { name, source } = config.get(setting) ?? { source: "default" as const }
    return values.length === 0 ? [] : [{ setting, source, from: name ?? source, values }]
  })

/** Those that a run with these options uses. */
export const powersOfRun = (
  config: Config,
  { auto, skipQuality, worktree }: { readonly auto: boolean; readonly skipQuality: boolean; readonly worktree: boolean }
): ReadonlyArray<Power> => {
  const unused: ReadonlyArray<PowerSetting> = [
    ...(skipQuality ? (["gates.quality"] as const) : []),
    ...(auto ? [] : (["gates.verify"] as const)),
    ...(worktree ? [] : (["workspace.postCreate"] as const))
  ]
  return powersOf(config).filter(({ setting }) => !unused.includes(setting))
}

export const isCommand = ({ setting }: Power): boolean => commands.some((one) => one === setting)

/**
 * Stands for these values, in this order, for this purpose. Where they were read does not matter: what was allowed for a
 * plan is allowed for `reprise.toml`.
 */
export const digestOf = ({ setting, values }: Pick<Power, "setting" | "values">): string =>
  createHash("sha256")
    .update(JSON.stringify([setting, ...values]))
    .digest("hex")

/** A line for each value, under the file that names it. */
export const powerLines = (all: ReadonlyArray<Power>): string =>
  all
    .map(({ from, setting, values }) => [`${from}, ${setting}:`, ...values.map((value) => `  ${value}`)].join("\n"))
    .join("\n")
