/** Trusts what `reprise.toml`, or a plan, allows now in this clone, and shows it. */
import { Effect, Option } from "effect"
import { loadConfig } from "../../config/loadConfig.ts"
import type { Project } from "../../project/Project.ts"
import { readPlanFile } from "../../project/planFile.ts"
import { okJson, say } from "../../terminal/Printer.ts"
import { agentFileLine } from "../../trust/agentFiles.ts"
import { allAgentFiles, forgetOutdatedFiles, trustAgentFiles } from "../../trust/projectSettings.ts"
import { isCommand, trustedSettingLines, trustedSettings } from "../../trust/trustedSettings.ts"
import { forgetOutdated, trust } from "../../trust/trustStore.ts"

export const trustSettings = Effect.fn("trustSettings")(function* (
  project: Project,
  flags: { readonly plan: Option.Option<string>; readonly json: boolean }
) {
  const plan = Option.isNone(flags.plan) ? undefined : yield* readPlanFile(project, flags.plan.value)
  const config = yield* loadConfig(project.root, { plan })
  const settings = trustedSettings(config)
  const files = yield* allAgentFiles(project)
  const [trusted, doubtful] = [files.filter(({ doubt }) => doubt === undefined), files.filter(({ doubt }) => doubt)]
  yield* forgetOutdated(project, config)
  yield* forgetOutdatedFiles(project)
  yield* trust(project, settings)
  yield* trustAgentFiles(project, trusted)
  if (flags.json) {
    return okJson({
      root: project.root,
      commands: settings.filter(isCommand).map(({ values, ...where }) => ({ ...where, commands: values })),
      settings: settings
        .filter((setting) => !isCommand(setting))
        .flatMap(({ values, ...where }) => values.map((value) => ({ ...where, value }))),
      files: trusted.map(({ path, sizeBytes }) => ({ path, sizeBytes })),
      notTrusted: doubtful.map(({ doubt, path }) => ({ path, reason: doubt }))
    })
  }
  for (const file of doubtful) say(agentFileLine(file))
  const lines = [...trustedSettingLines(settings), ...trusted.map(agentFileLine)]
  if (lines.length === 0) return say(`${plan?.path ?? "reprise.toml"} has no settings that need trust.`)
  say(`Trusted on this machine until they change:\n${lines.join("\n")}`)
})
