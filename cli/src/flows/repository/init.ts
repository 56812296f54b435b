/** `reprise init`: writes a commented `reprise.toml` and the JSON schema it refers to. */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Option, Schema } from "effect"
import { ensureSchemaFile } from "../../config/jsonSchema.ts"
import { configFile } from "../../config/loadConfig.ts"
import { renderConfigFile } from "../../config/renderConfigFile.ts"
import { findProject } from "../../project/Project.ts"
import { wrongUse } from "../../terminal/CliFailure.ts"
import { okJson, say } from "../../terminal/Printer.ts"

const Manifest = Schema.fromJsonString(
  Schema.Struct({
    scripts: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
    packageManager: Schema.optionalKey(Schema.String)
  })
)
const decodeManifest = Schema.decodeUnknownOption(Manifest)

const readManifest = (root: string) => {
  const path = join(root, "package.json")
  return existsSync(path) ? Option.getOrUndefined(decodeManifest(readFileSync(path, "utf8"))) : undefined
}

const lockFiles = { "pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lock": "bun", "bun.lockb": "bun" }

/** Runs the scripts of package.json: what it names itself, otherwise the one whose lock file is there. */
const packageManager = (root: string, named: string | undefined): string => {
  const name = named?.split("@")[0] ?? ""
  if (["npm", "pnpm", "yarn", "bun"].includes(name)) return name
  return Object.entries(lockFiles).find(([file]) => existsSync(join(root, file)))?.[1] ?? "npm"
}

/** 'bun test' is bun's own test runner, not the script. */
const scriptCommand = (manager: string, script: string): string =>
  script === "test" && manager !== "bun" ? `${manager} test` : `${manager} run ${script}`

/** The commands that most likely check the repository at `root`; none if nothing is recognised. */
export const detectQualityGates = (root: string): ReadonlyArray<string> => {
  const has = (file: string) => existsSync(join(root, file))
  const manifest = readManifest(root)
  const scripts = Object.keys(manifest?.scripts ?? {})
  if (scripts.length > 0) {
    const wanted = scripts.includes("verify") ? ["verify"] : ["lint", "test"].filter((name) => scripts.includes(name))
    const manager = packageManager(root, manifest?.packageManager)
    return wanted.map((name) => scriptCommand(manager, name))
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
