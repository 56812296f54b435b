/** Reads `reprise.toml`, `reprise.local.toml` and the environment of a project, and adds a plan's front matter. */
import { join } from "node:path"
import { readForeignText } from "@reprise/process"
import { Effect, type Result } from "effect"
import type { PlanFile } from "../project/planFile.ts"
import { missing, wrongUse } from "../terminal/CliFailure.ts"
import { notRead } from "../terminal/notRead.ts"
import { type ConfigProblem, fromCommandLine, fromEnvironment, fromPlan, type Layer } from "./layers.ts"
import { readToml } from "./readToml.ts"
import { resolve } from "./resolveConfig.ts"
import type { SomeSettings } from "./settingsTable.ts"

export const configFile = "reprise.toml"

const orFail = <A>(result: Result.Result<A, ConfigProblem>) =>
  Effect.fromResult(result).pipe(
    Effect.mapError(({ hint, message, source }) =>
      source === "command line" ? wrongUse("usage", message, hint) : missing("config", message, hint)
    )
  )

const largestBytes = 1024 * 1024

const readLayer = Effect.fnUntraced(function* (root: string, source: "reprise.toml" | "reprise.local.toml") {
  const text = yield* Effect.tryPromise({
    try: () => readForeignText(join(root, source), { largestBytes, follow: true }),
    catch: (cause) => notRead("config", source, cause)
  })
  if (text === undefined) return { source, values: new Map() } satisfies Layer
  return yield* orFail(readToml(text, source))
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
