/** Reads `reprise.toml`, `reprise.local.toml` and the environment of a project, and takes a plan's wishes in. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Plan } from "@reprise/plan"
import { Effect, type Result } from "effect"
import { parse, TomlError } from "smol-toml"
import { missing, wrongUse } from "../terminal/CliFailure.ts"
import { type ConfigProblem, flatten, fromEnvironment, fromPlan, type Layered, resolve } from "./Config.ts"
import { lineOfKey } from "./lineOfKey.ts"

export const configFile = "reprise.toml"

const readIfThere = (path: string): string | undefined => {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined
    throw error
  }
}

const readLayer = Effect.fnUntraced(function* (root: string, source: "reprise.toml" | "reprise.local.toml") {
  const text = yield* Effect.try({
    try: () => readIfThere(join(root, source)),
    catch: (cause) => missing("config", `${source} cannot be read: ${String(cause)}`, "Check its permissions.", cause)
  })
  if (text === undefined) return { source, values: new Map() } satisfies Layered
  const document = yield* Effect.try({
    try: () => parse(text),
    catch: (cause) =>
      cause instanceof TomlError
        ? missing(
            "config",
            `${source} is not valid TOML: line ${cause.line}, column ${cause.column}: ${cause.message.split("\n")[0]}`,
            `Mend ${source}; 'reprise init' in an empty folder shows a valid one.`
          )
        : missing("config", `${source} is not valid TOML.`, "Mend it.", cause)
  })
  return yield* orFail(flatten(document, source, (path) => lineOfKey(text, path)))
})

const orFail = <A>(result: Result.Result<A, ConfigProblem>) =>
  Effect.fromResult(result).pipe(
    Effect.mapError(({ hint, message, source }) =>
      source === "command line" ? wrongUse("usage", message, hint) : missing("config", message, hint)
    )
  )

/** A plan that has been read. `path` is relative to the project's root. */
export interface PlanWishes {
  readonly path: string
  readonly plan: Pick<Plan, "frontMatter">
}

/**
 * The configuration of the project at `root`: defaults, then `reprise.toml`, `reprise.local.toml`, the plan's front
 * matter, `REPRISE_…` variables and the command line, later ones winning. Fails with the place of what is wrong, and exit
 * code 3, or 2 where that is the command line.
 */
export const loadConfig = Effect.fn("loadConfig")(function* (
  root: string,
  commandLine: ReadonlyMap<string, unknown>,
  wishes?: PlanWishes
) {
  const layers: ReadonlyArray<Layered> = [
    yield* readLayer(root, "reprise.toml"),
    yield* readLayer(root, "reprise.local.toml"),
    ...(wishes === undefined ? [] : [yield* orFail(fromPlan(wishes.path, wishes.plan.frontMatter))]),
    fromEnvironment(process.env),
    { source: "command line", values: commandLine }
  ]
  return yield* orFail(resolve(layers))
})
