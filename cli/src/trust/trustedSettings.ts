/**
 * The settings that need trust: they run commands, give agents permissions, or name servers that are sent plans, work
 * and passwords. Pure.
 */
import { createHash } from "node:crypto"
import { commandOf } from "@reprise/agent/acpCommand"
import { channelLine, isLoopback } from "@reprise/gate/notifications"
import type { RuntimeName } from "@reprise/protocol"
import type { Source } from "../config/layers.ts"
import type { Config } from "../config/resolveConfig.ts"
import type { SettingPath, Settings } from "../config/settingsTable.ts"
import { visibleLine } from "../terminal/visible.ts"

/** Settings whose values a shell runs. */
const commandSettings = ["gates.quality", "gates.verify", "workspace.postCreate"] as const
/** Where plans, work and answers are sent, and with which credentials. */
export const credentialSettings = ["nats.credentials", "nats.nkeySeedFile", "nats.caFile"] as const
export const serverSettings = ["nats.url", ...credentialSettings] as const
/** What is started as an agent, where it is one by its command. */
export const runtimeSettings = [
  "runtime",
  "reviewerRuntime",
  "fixer.runtime",
  "author.rules",
  "reviewer.rules",
  "fixer.rules"
] as const
/**
 * What is started as an agent, where agents get their instructions, with the user's password, and what approves what they ask for. Rules that ask or
 * deny need no trust: they only hold back.
 */
export const agentSettings = [
  ...runtimeSettings,
  "opencode.url",
  "sessions.onPrompt",
  "permissions.allow.commands",
  "permissions.allow.files",
  "permissions.allow.addresses"
] as const

/** What the sandbox lets through. */
export const sandboxSettings = [
  "sandbox.mode",
  "sandbox.write",
  "sandbox.read",
  "sandbox.network",
  "sandbox.agentWrite",
  "sandbox.agentNetwork",
  "sandbox.agentEnvironment",
  "sandbox.gates"
] as const

/** Who reaches the web console, and who is believed to have signed people in. Its address is one of `notifySettings`. */
export const consoleSettings = [
  "web.listen",
  "web.userHeader",
  "web.groupsHeader",
  "web.answerers",
  "web.proxySecret"
] as const

/**
 * Where questions are sent, with which secrets of this machine, and where the links in them lead: under which address,
 * and so for which pages, the web console answers.
 */
export const notifySettings = ["notify.channels", "web.origin", "web.answerKey"] as const

const allSettings = [
  ...commandSettings,
  "gates.environment",
  "permissions",
  ...serverSettings,
  ...agentSettings,
  ...sandboxSettings,
  ...notifySettings,
  ...consoleSettings
] as const
export type TrustedPath = Extract<SettingPath, (typeof allSettings)[number]>

export const isTrustedPath = (name: string): name is TrustedPath => allSettings.some((one) => one === name)

/** What one setting allows or names, and where it was read. */
export interface TrustedSetting {
  readonly setting: TrustedPath
  readonly source: Source
  /** For people: `reprise.toml`, or the plan's path. */
  readonly from: string
  readonly values: ReadonlyArray<string>
}

/** Only an approval needs trust: the other actions ask a human or allow nothing. */
const approvals = ({ onPrompt }: Settings["sessions"]): ReadonlyArray<string> =>
  onPrompt
    .filter((one) => (typeof one === "string" ? one : one.action) === "approve")
    .map((one) => (typeof one === "string" ? one : JSON.stringify(one)))

const ifSet = (value: string | undefined): ReadonlyArray<string> => (value === undefined ? [] : [value])

/** The other runtimes are programs that the user installed. */
const ifCommand = (runtime: RuntimeName | undefined): ReadonlyArray<string> =>
  runtime === undefined || commandOf(runtime) === undefined ? [] : [runtime]

const rulePaths = { "author.rules": "author", "reviewer.rules": "reviewer", "fixer.rules": "fixer" } as const

/** What rules let be started. */
const ruleCommands = (settings: Settings, path: keyof typeof rulePaths): ReadonlyArray<string> => [
  ...new Set(settings[rulePaths[path]].rules.flatMap(({ runtime }) => ifCommand(runtime)))
]

const valuesOf = (settings: Settings, path: TrustedPath): ReadonlyArray<string> => {
  switch (path) {
    case "gates.quality":
      return settings.gates.quality
    case "gates.verify":
      return settings.gates.verify
    case "workspace.postCreate":
      return settings.workspace.postCreate
    case "gates.environment":
      return settings.gates.environment
    case "runtime":
      return ifCommand(settings.runtime)
    case "reviewerRuntime":
      return ifCommand(settings.reviewerRuntime)
    case "fixer.runtime":
      return ifCommand(settings.fixer.runtime)
    case "author.rules":
    case "reviewer.rules":
    case "fixer.rules":
      return ruleCommands(settings, path)
    case "permissions":
      // Agents that ask for everything are allowed nothing.
      return settings.permissions === "ask" ? [] : [settings.permissions]
    case "permissions.allow.commands":
      return settings["permissions.allow"].commands
    case "permissions.allow.files":
      return settings["permissions.allow"].files
    case "permissions.allow.addresses":
      return settings["permissions.allow"].addresses
    case "nats.url":
      return ifSet(settings.nats.url)
    case "nats.credentials":
      return ifSet(settings.nats.credentials)
    case "nats.nkeySeedFile":
      return ifSet(settings.nats.nkeySeedFile)
    case "nats.caFile":
      return ifSet(settings.nats.caFile)
    case "opencode.url":
      return ifSet(settings.opencode.url)
    case "sandbox.mode":
      return settings.sandbox.mode === "off" ? ["off"] : []
    case "sandbox.write":
      return settings.sandbox.write
    case "sandbox.read":
      return settings.sandbox.read
    case "sandbox.network":
      return settings.sandbox.network
    case "sandbox.agentWrite":
      return settings.sandbox.agentWrite
    case "sandbox.agentNetwork":
      return settings.sandbox.agentNetwork
    case "sandbox.agentEnvironment":
      return settings.sandbox.agentEnvironment
    case "sandbox.gates":
      return settings.sandbox.gates ? [] : ["false"]
    case "sessions.onPrompt":
      return approvals(settings.sessions)
    case "web.origin":
      return ifSet(settings.web.origin)
    case "web.listen":
      return isLoopback(settings.web.listen) ? [] : [settings.web.listen]
    case "web.userHeader":
      return ifSet(settings.web.userHeader)
    case "web.groupsHeader":
      return ifSet(settings.web.groupsHeader)
    case "web.answerers":
      return settings.web.answerers
    case "web.answerKey":
      return ifSet(settings.web.answerKey)
    case "web.proxySecret":
      return ifSet(settings.web.proxySecret)
    case "notify.channels":
      return Object.entries(settings.notify.channels).map(([name, channel]) => channelLine(name, channel))
  }
}

/** Settings that allow nothing are left out. */
export const trustedSettings = (
  { resolved, settings }: Config,
  paths: ReadonlyArray<TrustedPath> = allSettings
): ReadonlyArray<TrustedSetting> =>
  paths.flatMap((setting) => {
    const values = valuesOf(settings, setting)
    const { name, source } = resolved(setting)
    return values.length === 0 ? [] : [{ setting, source, from: name ?? source, values }]
  })

/** The settings that a run with these options uses. */
export const trustedSettingsOfRun = (
  config: Config,
  { auto, skipQuality, worktree }: { readonly auto: boolean; readonly skipQuality: boolean; readonly worktree: boolean }
): ReadonlyArray<TrustedSetting> => {
  const unused: ReadonlyArray<TrustedPath> = [
    ...(skipQuality ? (["gates.quality"] as const) : []),
    ...(auto ? [] : (["gates.verify"] as const)),
    ...(worktree ? [] : (["workspace.postCreate"] as const))
  ]
  return trustedSettings(config).filter(({ setting }) => !unused.includes(setting))
}

export const isCommand = ({ setting }: Pick<TrustedSetting, "setting">): boolean =>
  commandSettings.some((one) => one === setting)

/**
 * Identifies these values, in this order, of this setting. Where they were read does not matter: values that were
 * trusted in a plan are trusted in `reprise.toml` too.
 */
export const digestOf = ({ setting, values }: Pick<TrustedSetting, "setting" | "values">): string =>
  createHash("sha256")
    .update(JSON.stringify([setting, ...values]))
    .digest("hex")

/** A line for each value, under the file that names it. A line break in a command is shown: it would look like another command. */
export const trustedSettingLines = (all: ReadonlyArray<TrustedSetting>): ReadonlyArray<string> =>
  all.flatMap(({ from, setting, values }) => [
    `${visibleLine(from)}, ${setting}:`,
    ...values.map((value) => `  ${visibleLine(value)}`)
  ])
