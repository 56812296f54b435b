/** The places that settings are read from, each as one layer: dotted path → value that is not checked yet. Pure. */

import type { FrontMatter } from "@reprise/plan"
import { defined } from "@reprise/protocol"
import { Result, Schema } from "effect"
import { closest } from "fastest-levenshtein"
import { visibleLine } from "../terminal/visible.ts"
import { otherNames } from "./agentSettings.ts"
import { quoted } from "./quoted.ts"
import { environmentName, type SettingPath, type SomeSettings, settingsTable } from "./settingsTable.ts"

export type Source = "default" | "reprise.toml" | "reprise.local.toml" | "plan" | "environment" | "command line"

export interface Layer {
  readonly source: Source
  /** The path of the plan, if the source is a plan. */
  readonly name?: string
  readonly values: ReadonlyMap<SettingPath, unknown>
  /** The line of the file that has a setting or a section. */
  readonly lineOf?: (path: string) => number | undefined
}

/** An invalid configuration: where, what and the next step. */
export class ConfigProblem extends Schema.TaggedError<ConfigProblem>()("ConfigProblem", {
  source: Schema.String,
  message: Schema.String,
  hint: Schema.String
}) {}

export const problem = (source: Source, message: string, hint: string) =>
  Result.fail(new ConfigProblem({ source, message, hint }))

/** `reprise.toml, line 3`. */
export const located = (file: string, line: number | undefined): string =>
  line === undefined ? file : `${file}, line ${line}`

const byPath: ReadonlyMap<string, SettingPath> = new Map([
  ...settingsTable.flatMap(({ path, writtenAs }) => [[path, path] as const, [writtenAs, path] as const]),
  ...Object.entries(otherNames)
])

/** Every name under which a file may have the setting. */
export const namesOf = (path: SettingPath): ReadonlyArray<string> =>
  [...byPath].flatMap(([name, named]) => (named === path ? [name] : []))

/** `a.b.c` is in the sections `a.b` and `a`. */
const sectionsAround = (path: string): ReadonlyArray<string> => {
  const at = path.lastIndexOf(".")
  return at === -1 ? [] : [path.slice(0, at), ...sectionsAround(path.slice(0, at))]
}
const sections = new Set(settingsTable.flatMap(({ writtenAs }) => sectionsAround(writtenAs)))

const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date)

type Mistake = {
  readonly _tag: "UnknownKey" | "NotASection" | "Twice"
  readonly path: string
  readonly value: unknown
}

/** Fills `values` with the settings of a table; returns the first mistake. */
const collect = (
  table: Record<string, unknown>,
  prefix: string,
  values: Map<SettingPath, unknown>
): Mistake | undefined => {
  for (const [key, value] of Object.entries(table)) {
    const path = `${prefix}${key}`
    if (path === "$schema") continue
    const known = byPath.get(path)
    if (known !== undefined && !(sections.has(path) && isTable(value))) {
      if (values.has(known)) return { _tag: "Twice", path, value }
      values.set(known, value)
      continue
    }
    if (!sections.has(path)) return { _tag: "UnknownKey", path, value }
    if (!isTable(value)) return { _tag: "NotASection", path, value }
    const mistake = collect(value, `${path}.`, values)
    if (mistake !== undefined) return mistake
  }
  return undefined
}

const firstOf = (path: string): string => path.split(".")[0] ?? path

/** The keys beside a path, as they are written: those of its section, or those of no section. */
const keysBeside = (path: string): string => {
  const [around] = sectionsAround(path)
  const section = around !== undefined && sections.has(around) ? around : undefined
  const prefix = section === undefined ? "" : `${section}.`
  const written = [
    ...Object.keys(section === undefined ? {} : otherNames),
    ...settingsTable.map((one) => one.writtenAs)
  ]
  const rests = written.flatMap((name) => (name.startsWith(prefix) ? [name.slice(prefix.length)] : []))
  const keys = section === undefined ? rests.filter((rest) => !rest.includes(".")) : rests.map(firstOf)
  const listed = [...new Set(keys)]
  return `${section === undefined ? "Outside the sections there are" : `[${section}] has`} ${listed.join(", ")}.`
}

/** Longer than any key that is known. */
const longestShownKey = 80

const explain = ({ _tag, path, value }: Mistake, source: Source, place: string) => {
  if (_tag === "UnknownKey") {
    const shown = path.slice(0, longestShownKey)
    return problem(
      source,
      `${place} has an unknown key '${visibleLine(shown)}${shown === path ? "" : "…"}'.`,
      `Did you mean '${closest(shown, [...byPath.keys(), ...sections])}'? ${keysBeside(shown)}`
    )
  }
  if (_tag === "Twice") {
    const [name] = namesOf(byPath.get(path) ?? "runtime").filter((other) => other !== path)
    return problem(source, `${place} has the same setting twice: '${path}' and '${name}'.`, "Keep one of them.")
  }
  const example = settingsTable.find(({ section }) => section === path)?.key ?? path
  return problem(
    source,
    `${place}: '${path}' is a section of settings, but is set to ${quoted(value)}.`,
    `Write its settings below a line '[${path}]', for example '${example}'.`
  )
}

/** A parsed TOML document; an unknown key is a problem with a suggestion. */
export const fromDocument = (
  document: unknown,
  source: Source,
  lineOf: NonNullable<Layer["lineOf"]> = () => undefined
): Result.Result<Layer, ConfigProblem> => {
  const values = new Map<SettingPath, unknown>()
  const mistake = isTable(document) ? collect(document, "", values) : undefined
  return mistake === undefined
    ? Result.succeed({ source, values, lineOf })
    : explain(mistake, source, located(source, lineOf(mistake.path)))
}

const parsedJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Values of `REPRISE_…` variables: JSON, or the text itself if it is not JSON or only the text is valid. */
export const fromEnvironment = (environment: Readonly<Record<string, string | undefined>>): Layer => ({
  source: "environment",
  values: new Map(
    settingsTable.flatMap(({ path, schema }) => {
      const text = environment[environmentName(path)]
      if (text === undefined || text === "") return []
      const parsed = parsedJson(text)
      const isValid = Schema.is(schema)
      return [[path, isValid(text) && !isValid(parsed) ? text : parsed] as const]
    })
  )
})

/** `gates` and `limits` of a plan's front matter. */
export const fromPlan = (path: string, { gates, limits }: FrontMatter): Result.Result<Layer, ConfigProblem> =>
  Result.map(fromDocument({ ...defined({ gates, limits }) }, "plan"), ({ values }) => ({
    source: "plan",
    name: path,
    values
  }))

/** Settings that flags set; undefined: the flag was not given. */
export const fromCommandLine = (flags: SomeSettings): Layer => {
  const values = new Map<SettingPath, unknown>()
  collect(flags, "", values)
  return { source: "command line", values: new Map([...values].filter(([, value]) => value !== undefined)) }
}
