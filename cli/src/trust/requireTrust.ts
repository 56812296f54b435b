/** Nothing that others may have written is used before a human trusted it on this machine (workspace: Trust). */
import { Effect } from "effect"
import type { Config } from "../config/Config.ts"
import type { Project } from "../project/Project.ts"
import { missing } from "../terminal/CliFailure.ts"
import { say, visible } from "../terminal/Printer.ts"
import { readLine } from "../terminal/readLine.ts"
import { type Power, type PowerSetting, powerLines, powersOf } from "./trustedSettings.ts"
import { trust, untrusted } from "./trustStore.ts"

export interface Asking {
  /** Somebody is there to say yes. */
  readonly terminal: boolean
  /** The plan that was named, as it was named. */
  readonly plan?: string
}

/** Fails with exit code 3 unless all of it is trusted, or a human at the terminal says so now. */
export const requireTrust = Effect.fnUntraced(function* (
  project: Project,
  wanted: ReadonlyArray<Power>,
  { plan, terminal }: Asking = { terminal: false }
) {
  const powers = yield* untrusted(project, wanted)
  if (powers.length === 0) return
  const list = visible(powerLines(powers))
  const ofPlan = plan !== undefined && powers.some(({ source }) => source === "plan")
  const notTrusted = missing(
    "not-trusted",
    `These settings are not trusted on this machine yet:\n${list}`,
    `Read them, then trust them with '${ofPlan ? `reprise trust ${plan}` : "reprise trust"}'.`
  )
  if (!terminal) return yield* notTrusted
  say(`The run would use these settings, which others may have written:\n${list}`)
  const line = yield* readLine("trust them on this machine? [y/N] ")
  if (line._tag === "Left" || !/^y(es)?$/i.test(line.text.trim())) return yield* notTrusted
  yield* trust(project, powers)
})

/** The same for some settings, where nobody is asked. */
export const requireTrusted = (project: Project, config: Config, settings: ReadonlyArray<PowerSetting>) =>
  requireTrust(project, powersOf(config, settings))
