/** The resolved configuration: every setting's value, and where each came from. Pure. */
import { Result, Schema } from "effect"
import { type ConfigProblem, type Layer, located, problem, quoted, type Source } from "./layers.ts"
import { environmentName, type Setting, type SettingPath, type Settings, settingsTable } from "./settingsTable.ts"

/** The value of one setting and where it came from. */
export interface Resolved {
  readonly value: unknown
  readonly source: Source
  /** The environment variable, or the path of the plan, if the source is one. */
  readonly name?: string
}

export interface Config {
  readonly settings: Settings
  readonly resolved: (path: SettingPath) => Resolved
}

const nameIn = (layer: Layer, path: SettingPath): string | undefined =>
  layer.source === "environment" ? environmentName(path) : layer.name

/** `reprise.toml, line 3: gates.phase` or `REPRISE_GATES_PHASE`. */
const placeIn = (layer: Layer, path: SettingPath): string =>
  layer.source === "environment"
    ? environmentName(path)
    : `${located(layer.name ?? layer.source, layer.lineOf?.(path))}: ${path}`

const unset: Resolved = { value: undefined, source: "default" }

const decode = (
  { description, fallback, mayHoldSecret, path, schema }: Setting,
  layer: Layer
): Result.Result<Resolved, ConfigProblem> => {
  const given = layer.values.get(path)
  const decoded = Schema.decodeUnknownResult(schema, { onExcessProperty: "error" })(given)
  if (Result.isFailure(decoded)) {
    const expected = decoded.failure.message.replace(/\n\s*/g, " ")
    const got = mayHoldSecret === true ? "" : `, got ${quoted(given)}`
    const isList = layer.source === "environment" && Array.isArray(fallback)
    return problem(
      layer.source,
      `${placeIn(layer, path)} is not valid: ${expected}${got}.`,
      isList ? `${description} Write a list as JSON: '["npm test"]'.` : description
    )
  }
  const name = nameIn(layer, path)
  return Result.succeed({ value: decoded.success, source: layer.source, ...(name === undefined ? {} : { name }) })
}

/** OpenCode finds a model by its provider; for a name without one it would silently use its default model. */
const requireProvider = ({ resolved, settings }: Config, layers: ReadonlyArray<Layer>) => {
  const { reviewerRuntime = settings.runtime, runtime } = settings
  const models = [
    ["model", runtime],
    ["reviewerModel", reviewerRuntime]
  ] as const
  for (const [path, of] of models) {
    if (of !== "opencode") continue
    const { value } = resolved(path)
    const layer = layers.findLast(({ values }) => values.has(path))
    if (layer === undefined || typeof value !== "string" || /^[^/]+\/./.test(value)) continue
    return problem(
      layer.source,
      `${placeIn(layer, path)} is not valid: Expected provider/model, got ${quoted(value)}.`,
      "'opencode models' lists the models that OpenCode knows."
    )
  }
  return undefined
}

/** The table has decoded each value, so the object has the table's type. */
const settingsOf = (resolved: ReadonlyMap<SettingPath, Resolved>): Settings => {
  const settings: Record<string, unknown> = {}
  const sections: Record<string, Record<string, unknown>> = {}
  for (const { key, path, section } of settingsTable) {
    const value = resolved.get(path)?.value
    if (section === "") settings[key] = value
    else sections[section] = { ...sections[section], [key]: value }
  }
  return { ...settings, ...sections } as Settings
}

const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

/** The later place adds to the list of the earlier ones. */
const added = (earlier: Resolved = unset, later: Resolved): Resolved => ({
  ...later,
  value: [...new Set([...listOf(earlier.value), ...listOf(later.value)])]
})

/** Later layers win, except in lists that add up. Every value is checked against its setting, also one that a later layer replaces. */
export const resolve = (layers: ReadonlyArray<Layer>): Result.Result<Config, ConfigProblem> => {
  const found = new Map<SettingPath, Resolved>()
  for (const setting of settingsTable) {
    found.set(setting.path, { value: setting.fallback, source: "default" })
    for (const layer of layers) {
      if (!layer.values.has(setting.path)) continue
      const resolved = decode(setting, layer)
      if (Result.isFailure(resolved)) return Result.fail(resolved.failure)
      found.set(
        setting.path,
        setting.addsUp === true ? added(found.get(setting.path), resolved.success) : resolved.success
      )
    }
  }
  const config: Config = { settings: settingsOf(found), resolved: (path) => found.get(path) ?? unset }
  return requireProvider(config, layers) ?? Result.succeed(config)
}
