/** The resolved configuration: every setting's value, and where each came from. Pure. */
import { defined } from "@reprise/protocol"
import { Result, Schema } from "effect"
import { agentProblem } from "./agentRules.ts"
import { type ConfigProblem, type Layer, located, namesOf, problem, type Source } from "./layers.ts"
import { quoted } from "./quoted.ts"
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
const placeIn = (layer: Layer, path: SettingPath): string => {
  if (layer.source === "environment") return environmentName(path)
  const written = namesOf(path).find((name) => layer.lineOf?.(name) !== undefined) ?? path
  return `${located(layer.name ?? layer.source, layer.lineOf?.(written))}: ${written}`
}

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
  return Result.succeed({ value: decoded.success, source: layer.source, ...defined({ name }) })
}

/** What is wrong with the agents that the settings lead to, where the setting was read. */
const requireAgents = ({ settings }: Config, layers: ReadonlyArray<Layer>) => {
  const wrong = agentProblem(settings)
  if (wrong === undefined) return undefined
  const layer = layers.findLast(({ values }) => values.has(wrong.path))
  const place = layer === undefined ? wrong.path : placeIn(layer, wrong.path)
  return problem(layer?.source ?? "default", `${place} ${wrong.message}`, wrong.hint)
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
  return requireAgents(config, layers) ?? Result.succeed(config)
}
