/** `reprise config explain [PLAN]`: every setting, its value and where it came from. */
import { Effect, Option } from "effect"
import type { Config } from "../../config/Config.ts"
import { loadConfig } from "../../config/loadConfig.ts"
import { environmentName, settings } from "../../config/settings.ts"
import { findProject } from "../../project/Project.ts"
import { readPlan } from "../../project/planFile.ts"
import { data, okJson, visible } from "../../terminal/Printer.ts"
import { table } from "../../views/table.ts"

/** `from`: the source's own name where it has one, which is an environment variable or the path of a plan. */
export const explained = (config: Config) =>
  settings.map(({ description, path }) => {
    const resolved = config.get(path)
    return {
      setting: path,
      value: resolved?.value ?? null,
      source: resolved?.source ?? "default",
      from: resolved?.name ?? resolved?.source ?? "default",
      environment: environmentName(path),
      description
    }
  })

export const explain = Effect.fn("explain")(function* (flags: {
  readonly plan: Option.Option<string>
  readonly json: boolean
}) {
  const project = yield* findProject(process.cwd())
  const plan = Option.isNone(flags.plan) ? undefined : yield* readPlan(project, flags.plan.value)
  const rows = explained(yield* loadConfig(project.root, new Map(), plan))
  if (flags.json) return okJson(rows)
  const cells = rows.map((row) => [row.setting, visible(JSON.stringify(row.value)), visible(row.from)])
  data(table(["setting", "value", "from"], cells))
})
