/** Settings that others may have written are used only after a human trusted them on this machine. */
import { Effect } from "effect"
import type { Config } from "../config/resolveConfig.ts"
import type { Project } from "../project/Project.ts"
import { missing } from "../terminal/CliFailure.ts"
import { say, visible } from "../terminal/Printer.ts"
import { readYes } from "../terminal/readLine.ts"
import {
  isCommand,
  type TrustedPath,
  type TrustedSetting,
  trustedSettingLines,
  trustedSettings
} from "./trustedSettings.ts"
import { forgetOutdated, trust, untrusted } from "./trustStore.ts"

export interface Prompting {
  /** A human at the terminal can be asked. */
  readonly terminal: boolean
  /** The plan as it was named on the command line. */
  readonly plan?: string
}

/**
 * Fails with exit code 3 unless every setting is trusted, or a human at the terminal trusts them now. The settings are of
 * the configuration, which shows what was trusted and has changed since.
 */
export const requireTrust = Effect.fnUntraced(function* (
  project: Project,
  config: Config,
  wanted: ReadonlyArray<TrustedSetting>,
  { plan, terminal }: Prompting = { terminal: false }
) {
  yield* forgetOutdated(project, config)
  const { settings, trouble } = yield* untrusted(project, wanted)
  if (settings.length === 0) return
  const list = visible(trustedSettingLines(settings))
  const ofPlan = plan !== undefined && settings.some(({ source }) => source === "plan")
  const notTrusted = missing(
    "not-trusted",
    `${trouble === undefined ? "" : `${trouble}\n`}These settings are not trusted on this machine yet:\n${list}`,
    `Read them, then trust them with '${ofPlan ? `reprise trust ${plan}` : "reprise trust"}'.`
  )
  if (!terminal) return yield* notTrusted
  if (trouble !== undefined) say(visible(trouble))
  const onlyCommands = settings.every(isCommand)
  const what = onlyCommands ? "commands" : "settings"
  say(`These ${what} come from files in this repository and have not been approved on this machine:\n${list}`)
  if (!(yield* readYes(`${onlyCommands ? "Run" : "Use"} them? [y/N] `))) return yield* notTrusted
  yield* trust(project, settings)
})

/** The same for some settings, without asking anybody. */
export const requireTrusted = (project: Project, config: Config, paths: ReadonlyArray<TrustedPath>) =>
  requireTrust(project, config, trustedSettings(config, paths))
