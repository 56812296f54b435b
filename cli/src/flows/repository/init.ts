/** `reprise init`: a commented `reprise.toml`, and the JSON schema it refers to. */
import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { configFile } from "../../config/loadConfig.ts"
import { renderConfigFile } from "../../config/renderConfigFile.ts"
import { ensureSchemaFile } from "../../config/schemaFile.ts"
import { findProject } from "../../project/Project.ts"
import { wrongUse } from "../../terminal/CliFailure.ts"
import { okJson, say } from "../../terminal/Printer.ts"
import { detectQualityGates } from "./detectQualityGates.ts"

export const init = Effect.fn("init")(function* (flags: { readonly json: boolean }) {
  const project = yield* findProject(process.cwd())
  const path = join(project.root, configFile)
  if (existsSync(path)) {
    return yield* wrongUse(
      "exists",
      `${path} exists already.`,
      "Edit it, or remove it first; 'reprise config explain' shows what it says."
    )
  }
  const gates = detectQualityGates(project.root)
  const schema = yield* ensureSchemaFile(project)
  writeFileSync(path, renderConfigFile(gates), { flag: "wx" })
  if (flags.json) return okJson({ path, schema, quality: gates })
  say(
    `Wrote ${path}${gates.length === 0 ? "" : ` with the quality gate${gates.length === 1 ? "" : "s"} ${gates.join(", ")}`}.`
  )
  say("Commit it, trust its commands with 'reprise trust', then 'reprise run PLAN.md'.")
})
