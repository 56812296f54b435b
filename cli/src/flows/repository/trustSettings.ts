/** `reprise trust [PLAN]`: shows what `reprise.toml`, or a plan, allows, and trusts it on this machine. */
import { Effect, Option } from "effect"
import { loadConfig } from "../../config/loadConfig.ts"
import { findProject } from "../../project/Project.ts"
import { readPlanFile } from "../../project/planFile.ts"
import { okJson, say, visible } from "../../terminal/Printer.ts"
import { isCommand, trustedSettingLines, trustedSettings } from "../../trust/trustedSettings.ts"
import { trust } from "../../trust/trustStore.ts"

export const trustSettings = Effect.fn("trustSettings")(function* (flags: {
  readonly plan: Option.Option<string>
  readonly json: boolean
}) {
  const project = yield* findProject(process.cwd())
  const plan = Option.isNone(flags.plan) ? undefined : yield* readPlanFile(project, flags.plan.value)
  const settings = trustedSettings(yield* loadConfig(project.root, { plan }))
  yield* trust(project, settings)
  if (flags.json) {
    return okJson({
      root: project.root,
      commands: settings.filter(isCommand).map(({ values, ...where }) => ({ ...where, commands: values })),
      settings: settings
        .filter((setting) => !isCommand(setting))
        .flatMap(({ values, ...where }) => values.map((value) => ({ ...where, value })))
    })
  }
  if (settings.length === 0) return say(`${plan?.path ?? "reprise.toml"} has no settings that need trust.`)
  say(`Trusted on this machine until they change:\n${visible(trustedSettingLines(settings))}`)
})
