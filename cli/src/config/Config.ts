/** The resolved configuration: for each setting its value and where it came from. Pure. */

import type { FrontMatter } from "@reprise/plan"
import { Result, Schema } from "effect"
import { closest } from "fastest-levenshtein"
import { environmentName, settings } from "./settings.ts"

export type Source = "default" | "reprise.toml" | "reprise.local.toml" | "plan" | "environment" | "command line"

export interface Resolved {
  readonly value: unknown
  readonly source: Source
  /** The environment variable, or the path of the plan, when the source is one. */
  readonly name?: string
}
export type Config = ReadonlyMap<string, Resolved>

export interface Layered {
  readonly source: Source
  /** What the source is called, when it is a plan: its path. */
  readonly name?: string
  /** Dotted path → value. */
  readonly values: ReadonlyMap<string, unknown>
}

/** What is wrong with a configuration: where, what and the next step. */
export class ConfigProblem extends Schema.TaggedError<ConfigProblem>()("ConfigProblem", {
  source: Schema.String,
  message: Schema.String,
  hint: Schema.String
}) {}

const byPath = new Map(settings.map((setting) => [setting.path, setting]))
const sections = new Set(settings.flatMap(({ path }) => (path.includes(".") ? [path.slice(0, path.indexOf("."))] : [])))

const problem = (source: string, message: string, hint: string) =>
  Result.fail(new ConfigProblem({ source, message, hint }))

const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date)

/** Flattens a parsed TOML document to dotted paths; an unknown key is a problem with a suggestion. */
export const flatten = (document: unknown, source: Source): Result.Result<Layered, ConfigProblem> => {
  const values = new Map<string, unknown>()
  const visit = (table: Record<string, unknown>, prefix: string): string | undefined => {
    for (const [key, value] of Object.entries(table)) {
      const path = `${prefix}${key}`
      if (path === "$schema") continue
      if (byPath.has(path)) values.set(path, value)
      else if (sections.has(path) && isTable(value)) {
        const unknown = visit(value, `${path}.`)
        if (unknown !== undefined) return unknown
      } else return path
    }
    return undefined
  }
  const unknown = isTable(document) ? visit(document, "") : undefined
  if (unknown === undefined) return Result.succeed({ source, values })
  const suggestion = closest(unknown, [...byPath.keys(), ...sections])
  return problem(
    source,
    `${source} has an unknown key '${unknown}'.`,
    `Did you mean '${suggestion}'? 'reprise config explain' lists every key.`
  )
}

const fromText = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Values of `REPRISE_…` variables; lists and numbers as JSON, anything else as text. */
export const fromEnvironment = (environment: Readonly<Record<string, string | undefined>>): Layered => ({
  source: "environment",
  values: new Map(
    settings.flatMap((setting) => {
      const text = environment[environmentName(setting.path)]
      if (text === undefined || text === "") return []
      const read = fromText(text)
      return [[setting.path, Schema.is(setting.schema)(read) ? read : text] as const]
    })
  )
})

/** The wishes of a plan: `gates` and `limits` of its front matter. */
export const fromPlan = (path: string, { gates, limits }: FrontMatter): Result.Result<Layered, ConfigProblem> =>
  Result.map(
    flatten({ ...(gates === undefined ? {} : { gates }), ...(limits === undefined ? {} : { limits }) }, "plan"),
    ({ values }) => ({ source: "plan", name: path, values })
  )

const nameOf = (layer: Layered, path: string): string | undefined =>
  layer.source === "environment" ? environmentName(path) : layer.name

/** Later layers win. Every value is checked against its setting. */
export const resolve = (layers: ReadonlyArray<Layered>): Result.Result<Config, ConfigProblem> => {
  const config = new Map<string, Resolved>()
  for (const setting of settings) {
    config.set(setting.path, { value: setting.fallback, source: "default" })
    for (const layer of layers) {
      if (!layer.values.has(setting.path)) continue
      const name = nameOf(layer, setting.path)
      const decoded = Schema.decodeUnknownResult(setting.schema)(layer.values.get(setting.path))
      if (Result.isFailure(decoded)) {
        const where = layer.source === "environment" ? name : `${name ?? layer.source}: ${setting.path}`
        return problem(layer.source, `${where} is not valid: ${decoded.failure.message}`, setting.description)
      }
      config.set(setting.path, {
        value: decoded.success,
        source: layer.source,
        ...(name === undefined ? {} : { name })
      })
    }
  }
  return Result.succeed(config)
}

/** The value of a setting; its type is the setting's. */
export const get = <A>(config: Config, path: string): A => config.get(path)?.value as A
