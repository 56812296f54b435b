/** `reprise config explain [PLAN]`: every setting, its value and where it came from. */
import { Effect, Option } from "effect"
import { loadConfig } from "../../config/loadConfig.ts"
import type { Config } from "../../config/resolveConfig.ts"
import { environmentName, settingsTable } from "../../config/settingsTable.ts"
import { findProject } from "../../project/findProject.ts"
import { readPlanFile } from "../../project/planFile.ts"
import { data, okJson } from "../../terminal/Printer.ts"
import { visible } from "../../terminal/visible.ts"
import { table } from "../../views/table.ts"

/** `from`: an environment variable, the path of a plan, or else the source. */
export const explained = (config: Config) =>
  settingsTable.map(({ description, path }) => {
    const { name, source, value } = config.resolved(path)
    return {
      setting: path,
      value: value ?? null,
      source,
      from: name ?? source,
      environment: environmentName(path),
      description
    }
  })

export const explainConfig = Effect.fn("explainConfig")(function* (flags: {
  readonly plan: Option.Option<string>
  readonly json: boolean
}) {
  const project = yield* findProject(process.cwd())
  const plan = Option.isNone(flags.plan) ? undefined : yield* readPlanFile(project, flags.plan.value)
  const rows = explained(yield* loadConfig(project.root, { plan }))
  if (flags.json) return okJson(rows)
  const cells = rows.map((row) => [row.setting, visible(JSON.stringify(row.value)), visible(row.from)])
  data(table(["setting", "value", "from"], cells))
})
