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
  /** The line of a file on which a setting stands. */
  readonly lineOf?: (path: string) => number | undefined
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

const shown = (value: unknown): string => (JSON.stringify(value) ?? String(value)).slice(0, 80)

/** `reprise.toml, line 3`. */
const placed = (file: string, line: number | undefined): string => (line === undefined ? file : `${file}, line ${line}`)

const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date)

type Found = { readonly _tag: "Unknown" | "NoSection"; readonly path: string; readonly value: unknown }

/** Settings and unknown keys of a table, by dotted path; the first problem ends it. */
const collect = (table: Record<string, unknown>, prefix: string, values: Map<string, unknown>): Found | undefined => {
  for (const [key, value] of Object.entries(table)) {
    const path = `${prefix}${key}`
    if (path === "$schema") continue
    if (byPath.has(path)) {
      values.set(path, value)
      continue
    }
    if (!sections.has(path)) return { _tag: "Unknown", path, value }
    if (!isTable(value)) return { _tag: "NoSection", path, value }
    const found = collect(value, `${path}.`, values)
    if (found !== undefined) return found
  }
  return undefined
}

/** Flattens a parsed TOML document to dotted paths; an unknown key is a problem with a suggestion. */
export const flatten = (
  document: unknown,
  source: Source,
  lineOf: NonNullable<Layered["lineOf"]> = () => undefined
): Result.Result<Layered, ConfigProblem> => {
  const values = new Map<string, unknown>()
  const found = isTable(document) ? collect(document, "", values) : undefined
  if (found === undefined) return Result.succeed({ source, values, lineOf })
  const { _tag, path, value } = found
  const where = placed(source, lineOf(path))
  if (_tag === "NoSection") {
    const first = settings.find((setting) => setting.path.startsWith(`${path}.`))?.path ?? path
    return problem(
      source,
      `${where}: '${path}' is a section of settings, and is set to ${shown(value)}.`,
      `Write its settings below a line '[${path}]', such as '${first.slice(path.length + 1)}'; 'reprise config explain' lists them.`
    )
  }
  return problem(
    source,
    `${where} has an unknown key '${path}'.`,
    `Did you mean '${closest(path, [...byPath.keys(), ...sections])}'? 'reprise config explain' lists every key.`
  )
}

const fromText = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Values of `REPRISE_…` variables: JSON, or the text itself where that is no JSON or only the text fits. */
export const fromEnvironment = (environment: Readonly<Record<string, string | undefined>>): Layered => ({
  source: "environment",
  values: new Map(
    settings.flatMap((setting) => {
      const text = environment[environmentName(setting.path)]
      if (text === undefined || text === "") return []
      const read = fromText(text)
      const fits = Schema.is(setting.schema)
      return [[setting.path, fits(text) && !fits(read) ? text : read] as const]
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

const placeOf = (layer: Layered, path: string): string => {
  const name = nameOf(layer, path)
  if (layer.source === "environment") return `${name}`
  return `${placed(name ?? layer.source, layer.lineOf?.(path))}: ${path}`
}

/** OpenCode knows models by their provider; a name without one would silently be its default model. */
const modelProblem = (config: Config, layers: ReadonlyArray<Layered>) => {
  if (config.get("runtime")?.value !== "opencode") return undefined
  for (const path of ["model", "reviewerModel"]) {
    const value = config.get(path)?.value
    const layer = layers.findLast(({ values }) => values.has(path))
    if (layer === undefined || typeof value !== "string" || /^[^/]+\/./.test(value)) continue
    return problem(
      layer.source,
      `${placeOf(layer, path)} is not valid: Expected provider/model, got ${shown(value)}.`,
      "OpenCode lists the models that it knows: 'opencode models'."
    )
  }
  return undefined
}

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
        const expected = decoded.failure.message.replace(/\n\s*/g, " ")
        const asJson = layer.source === "environment" && Array.isArray(setting.fallback)
        return problem(
          layer.source,
          `${placeOf(layer, setting.path)} is not valid: ${expected}, got ${shown(layer.values.get(setting.path))}.`,
          asJson ? `${setting.description} A list is written as JSON: '["npm test"]'.` : setting.description
        )
      }
      config.set(setting.path, {
        value: decoded.success,
        source: layer.source,
        ...(name === undefined ? {} : { name })
      })
    }
  }
  return modelProblem(config, layers) ?? Result.succeed(config)
}

/** The value of a setting; its type is the setting's. */
export const get = <A>(config: Config, path: string): A => config.get(path)?.value as A
