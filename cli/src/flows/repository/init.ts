/** `reprise init`: writes a commented `reprise.toml` and the JSON schema it refers to, and a plan to begin with. */
import { existsSync, lstatSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { readForeignText } from "@reprise/process"
import { Effect, Option, Schema } from "effect"
import { ensureSchemaFile } from "../../config/jsonSchema.ts"
import { configFile } from "../../config/loadConfig.ts"
import { renderConfigFile } from "../../config/renderConfigFile.ts"
import { findProject } from "../../project/findProject.ts"
import type { Project } from "../../project/Project.ts"
import { type CliFailure, missing, wrongUse } from "../../terminal/CliFailure.ts"
import { notRead } from "../../terminal/notRead.ts"
import { okJson, say } from "../../terminal/Printer.ts"
import { visibleLine } from "../../terminal/visible.ts"
import { samplePlan, samplePlanFile } from "./samplePlan.ts"

const Manifest = Schema.fromJsonString(
  Schema.Struct({
    scripts: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
    packageManager: Schema.optionalKey(Schema.String)
  })
)
const decodeManifest = Schema.decodeUnknownOption(Manifest)

const readManifest = (root: string) =>
  Effect.tryPromise({
    try: () => readForeignText(join(root, "package.json"), { largestBytes: 4 * 1024 * 1024, follow: true }),
    catch: (cause) => notRead("manifest", "package.json", cause)
  }).pipe(Effect.map((text) => Option.getOrUndefined(decodeManifest(text))))

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
export const detectQualityGates = Effect.fn("detectQualityGates")(function* (
  root: string
): Effect.fn.Return<ReadonlyArray<string>, CliFailure> {
  const has = (file: string) => existsSync(join(root, file))
  const manifest = yield* readManifest(root)
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
})

interface Flags {
  readonly plan: boolean
  readonly json: boolean
}

/** A link that leads nowhere is there, too. */
const requireAbsent = (path: string, hint: string) =>
  lstatSync(path, { throwIfNoEntry: false }) === undefined
    ? Effect.void
    : wrongUse("exists", `${visibleLine(path)} exists already.`, hint)

/** Whatever is there stays as it is. */
const create = (path: string, text: string) =>
  Effect.try({
    try: () => writeFileSync(path, text, { flag: "wx" }),
    catch: (cause) =>
      missing(
        "not-written",
        `${basename(path)} cannot be written.`,
        "Check the folder's permissions, and the disk.",
        cause
      )
  })

/** A repository that is set up already gets the plan alone. */
const initWithPlan = Effect.fnUntraced(function* (project: Project, json: boolean) {
  const plan = join(project.root, samplePlanFile)
  yield* requireAbsent(plan, `'reprise validate ${samplePlanFile}' shows its phases and tasks.`)
  const isSetUp = existsSync(join(project.root, configFile))
  const settings = isSetUp ? undefined : yield* writeSettings(project)
  yield* create(plan, samplePlan((yield* detectQualityGates(project.root))[0]))
  if (json) return okJson({ ...settings, plan })
  if (settings !== undefined) sayWritten(settings)
  say(`Wrote ${plan}, a sample plan of two phases.`)
  const allow =
    settings === undefined || settings.quality.length === 0 ? "" : "allow its commands with 'reprise trust', "
  say(
    `Next: write your plan, commit both, ${allow}then 'reprise run PLAN.md'. 'reprise run PLAN.md --dry-run' shows what it would do.`
  )
})

interface WrittenSettings {
  readonly path: string
  readonly schema: string
  readonly quality: ReadonlyArray<string>
}

const writeSettings = Effect.fnUntraced(function* (project: Project): Effect.fn.Return<WrittenSettings, CliFailure> {
  const path = join(project.root, configFile)
  const quality = yield* detectQualityGates(project.root)
  const schema = yield* ensureSchemaFile(project)
  yield* create(path, renderConfigFile(quality))
  return { path, schema, quality }
})

const sayWritten = ({ path, quality }: WrittenSettings): void => {
  const found =
    quality.length === 0 ? "" : ` with the quality gate${quality.length === 1 ? "" : "s"} ${quality.join(", ")}`
  say(`Wrote ${visibleLine(path)}${found}.`)
}

export const init = Effect.fn("init")(function* ({ json, plan }: Flags) {
  const project = yield* findProject(process.cwd())
  if (plan) return yield* initWithPlan(project, json)
  const hint = "Edit it, or remove it first; 'reprise config explain' shows its settings."
  yield* requireAbsent(join(project.root, configFile), hint)
  const settings = yield* writeSettings(project)
  if (json) return okJson(settings)
  sayWritten(settings)
  say("Next: check it and commit it, allow its commands with 'reprise trust', then 'reprise run PLAN.md'.")
})
