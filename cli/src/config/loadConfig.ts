/** Reads `reprise.toml`, `reprise.local.toml` and the environment of a project, and adds a plan's front matter. */
import { join } from "node:path"
import { hasCode, readRegularFile } from "@reprise/process"
import { Effect, type Result } from "effect"
import { parse, TomlError } from "smol-toml"
import type { PlanFile } from "../project/planFile.ts"
import { missing, wrongUse } from "../terminal/CliFailure.ts"
import {
  type ConfigProblem,
  fromCommandLine,
  fromDocument,
  fromEnvironment,
  fromPlan,
  type Layer,
  type Source
} from "./layers.ts"
import { resolve } from "./resolveConfig.ts"
import type { SomeSettings } from "./settingsTable.ts"

export const configFile = "reprise.toml"

const header = /^\s*\[\s*([^[\]]+?)\s*\]/
const assignment = /^\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=/

/** `"gates" . quality` → `gates.quality`. */
const unquoted = (dotted: string): string =>
  dotted
    .split(".")
    .map((part) => part.trim().replace(/^(["'])(.*)\1$/, "$2"))
    .join(".")

/**
 * The line, from 1, of a setting or of a section's header in a TOML file, for messages. It looks at single lines:
 * undefined if the setting is written in another way, and a key inside a multi-line text may mislead it.
 */
export const lineOfKey = (text: string, path: string): number | undefined => {
  let prefix = ""
  for (const [index, line] of text.split("\n").entries()) {
    const section = header.exec(line)?.[1]
    if (section !== undefined) {
      prefix = `${unquoted(section)}.`
      if (prefix === `${path}.`) return index + 1
      continue
    }
    const key = assignment.exec(line)?.[1]
    if (key !== undefined && `${prefix}${unquoted(key)}` === path) return index + 1
  }
  return undefined
}

const orFail = <A>(result: Result.Result<A, ConfigProblem>) =>
  Effect.fromResult(result).pipe(
    Effect.mapError(({ hint, message, source }) =>
      source === "command line" ? wrongUse("usage", message, hint) : missing("config", message, hint)
    )
  )

const parseToml = (text: string, source: Source) =>
  Effect.try({
    try: () => parse(text),
    catch: (cause) =>
      cause instanceof TomlError
        ? missing(
            "config",
            `${source} is not valid TOML: line ${cause.line}, column ${cause.column}: ${cause.message.split("\n")[0]}`,
            `Fix ${source}.`
          )
        : missing("config", `${source} is not valid TOML.`, `Fix ${source}.`, cause)
  })

const largestBytes = 1024 * 1024

/** Undefined when there is no such file. */
const readSettings = (path: string) =>
  readRegularFile(path, largestBytes).then(
    (bytes) => bytes.toString("utf8"),
    (error) => (hasCode(error, "ENOENT") ? undefined : Promise.reject(error))
  )

const readLayer = Effect.fnUntraced(function* (root: string, source: "reprise.toml" | "reprise.local.toml") {
  const text = yield* Effect.tryPromise({
    try: () => readSettings(join(root, source)),
    catch: (cause) =>
      missing("config", `${source} cannot be read: ${String(cause)}`, "It must be a file that you may read.", cause)
  })
  if (text === undefined) return { source, values: new Map() } satisfies Layer
  return yield* orFail(fromDocument(yield* parseToml(text, source), source, (path) => lineOfKey(text, path)))
})

/**
 * The configuration of the project at `root`: defaults, then `reprise.toml`, `reprise.local.toml`, the plan's front
 * matter, `REPRISE_…` variables and the command line; later ones win. Fails with the place of what is wrong and exit
 * code 3, or 2 if that place is the command line.
 */
export const loadConfig = Effect.fn("loadConfig")(function* (
  root: string,
  { flags = {}, plan }: { readonly flags?: SomeSettings; readonly plan?: PlanFile | undefined } = {}
) {
  const layers: ReadonlyArray<Layer> = [
    yield* readLayer(root, "reprise.toml"),
    yield* readLayer(root, "reprise.local.toml"),
    ...(plan === undefined ? [] : [yield* orFail(fromPlan(plan.path, plan.plan.frontMatter))]),
    fromEnvironment(process.env),
    fromCommandLine(flags)
  ]
  return yield* orFail(resolve(layers))
})
