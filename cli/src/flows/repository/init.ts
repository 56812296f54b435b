/** `reprise init`: writes a commented `reprise.toml` and the JSON schema it refers to. */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { ensureSchemaFile } from "../../config/jsonSchema.ts"
import { configFile } from "../../config/loadConfig.ts"
import { renderConfigFile } from "../../config/renderConfigFile.ts"
import { findProject } from "../../project/Project.ts"
import { wrongUse } from "../../terminal/CliFailure.ts"
import { okJson, say } from "../../terminal/Printer.ts"

const npmScripts = (root: string): ReadonlyArray<string> => {
  try {
    const manifest: unknown = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
    if (typeof manifest !== "object" || manifest === null || !("scripts" in manifest)) return []
    return typeof manifest.scripts === "object" && manifest.scripts !== null ? Object.keys(manifest.scripts) : []
  } catch {
    return []
  }
}

/** The commands that most likely check the repository at `root`; none if nothing is recognised. */
const detectQualityGates = (root: string): ReadonlyArray<string> => {
  const has = (file: string) => existsSync(join(root, file))
  const scripts = npmScripts(root)
  if (scripts.length > 0) {
    const wanted = scripts.includes("verify") ? ["verify"] : ["lint", "test"].filter((name) => scripts.includes(name))
    return wanted.map((name) => (name === "test" ? "npm test" : `npm run ${name}`))
  }
  if (has("Cargo.toml")) return ["cargo test"]
  if (has("go.mod")) return ["go vet ./...", "go test ./..."]
  if (has("pyproject.toml") || has("setup.py")) return ["python3 -m pytest"]
  if (has("Makefile")) return ["make test"]
  return []
}

export const init = Effect.fn("init")(function* (flags: { readonly json: boolean }) {
  const project = yield* findProject(process.cwd())
  const path = join(project.root, configFile)
  if (existsSync(path)) {
    return yield* wrongUse(
      "exists",
      `${path} exists already.`,
      "Edit it, or remove it first; 'reprise config explain' shows its settings."
    )
  }
  const gates = detectQualityGates(project.root)
  const schema = yield* ensureSchemaFile(project)
  writeFileSync(path, renderConfigFile(gates), { flag: "wx" })
  if (flags.json) return okJson({ path, schema, quality: gates })
  const found = gates.length === 0 ? "" : ` with the quality gate${gates.length === 1 ? "" : "s"} ${gates.join(", ")}`
  say(`Wrote ${path}${found}.`)
  say("Next: check it and commit it, allow its commands with 'reprise trust', then 'reprise run PLAN.md'.")
})
