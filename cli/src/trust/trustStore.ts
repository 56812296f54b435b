/**
 * What this machine trusts. Anybody who can push can change a tracked file, and anybody may have written a plan. The
 * settings of both count only after this machine trusted exactly these values in this clone
 * (docs/design/workspace.md#workspace). Of each file only what was trusted last counts: turning back is a change, too.
 */
import { Effect } from "effect"
import type { Config } from "../config/resolveConfig.ts"
import type { Project } from "../project/Project.ts"
import { isOfOthers } from "./foreignFiles.ts"
import { digestOf, isTrustedPath, type TrustedSetting, trustedSettings } from "./trustedSettings.ts"
import { readTrust, type TrustEntry, writeTrust } from "./trustFile.ts"

/** Whether others may have written it. The environment and the command line are the user's own. */
const isForeign = (project: Project, { source }: TrustedSetting): ReturnType<typeof isOfOthers> => {
  switch (source) {
    case "plan":
      return Effect.succeed(true)
    case "reprise.toml":
    case "reprise.local.toml":
      return isOfOthers(project, source)
    case "default":
    case "environment":
    case "command line":
      return Effect.succeed(false)
  }
}

/** The settings that a human has not trusted yet, and why nothing is trusted if the record of it cannot be believed. */
export const untrusted = Effect.fnUntraced(function* (project: Project, wanted: ReadonlyArray<TrustedSetting>) {
  const { entries, trouble } = yield* readTrust(project)
  const trusted = new Set(entries.map(({ digest }) => digest))
  const unknown = wanted.filter((setting) => !trusted.has(digestOf(setting)))
  return { settings: yield* Effect.filter(unknown, (setting) => isForeign(project, setting)), trouble }
})

const entryOf = (setting: TrustedSetting): TrustEntry => ({
  what: setting.setting,
  from: setting.from,
  digest: digestOf(setting),
  values: setting.values,
  trustedAt: new Date().toISOString()
})

/** Adds to what is trusted, in the place of what was trusted of the same settings of the same files. */
export const trustEntries = Effect.fnUntraced(function* (project: Project, added: ReadonlyArray<TrustEntry>) {
  if (added.length === 0) return
  const isReplaced = ({ from, what }: TrustEntry) => added.some((one) => one.from === from && one.what === what)
  const { entries } = yield* readTrust(project)
  yield* writeTrust(project, [...entries.filter((entry) => !isReplaced(entry)), ...added])
})

/** Trusts these settings in this clone on this machine. */
export const trust = (project: Project, settings: ReadonlyArray<TrustedSetting>) =>
  trustEntries(project, settings.map(entryOf))

const files: ReadonlyArray<string> = ["reprise.toml", "reprise.local.toml"]

/** Whether the file of an entry says something else now. Unknown, so false, when another place overrides the setting. */
export const isOutdated = (config: Config, { digest, from, what }: TrustEntry): boolean => {
  if (!isTrustedPath(what)) return false
  const { name, source } = config.resolved(what)
  if ((name ?? source) === from) {
    const [now] = trustedSettings(config, [what])
    return now === undefined || digestOf(now) !== digest
  }
  return files.includes(from) && (source === "default" || files.indexOf(source) === 0)
}

/** Forgets what was trusted of a file that says something else now: to turn back to it needs trust again. */
export const forgetOutdated = Effect.fnUntraced(function* (project: Project, config: Config) {
  const { entries } = yield* readTrust(project)
  const kept = entries.filter((entry) => !isOutdated(config, entry))
  if (kept.length < entries.length) yield* writeTrust(project, kept)
})
