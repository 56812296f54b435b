/** `reprise config explain`: every setting, its value and where it came from. */
import Table from "cli-table3"
import { Effect } from "effect"
import { data, okJson, visible } from "../Printer.ts"
import { findProject } from "../project/Project.ts"
import { loadConfig } from "./loadConfig.ts"
import { environmentName, settings } from "./settings.ts"

export const explain = Effect.fn("explain")(function* (flags: { readonly json: boolean }) {
  const project = yield* findProject(process.cwd())
  const config = yield* loadConfig(project.root, new Map())
  const rows = settings.map((setting) => ({
    setting: setting.path,
    value: config.get(setting.path)?.value ?? null,
    source: config.get(setting.path)?.name ?? config.get(setting.path)?.source ?? "default",
    environment: environmentName(setting.path),
    description: setting.description
  }))
  if (flags.json) return okJson(rows)
  const table = new Table({ head: ["setting", "value", "from"], style: { head: [], border: [] } })
  for (const row of rows) table.push([row.setting, visible(JSON.stringify(row.value)), row.source])
  data(table.toString())
})
