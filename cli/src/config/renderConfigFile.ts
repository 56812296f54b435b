/**
 * A `reprise.toml` that shows every setting with its meaning and its default, or an example where it has none, commented
 * out unless it was detected. Pure.
 */
import { schemaPath } from "./jsonSchema.ts"
import { type Setting, settings } from "./settings.ts"

const isTable = (value: unknown): value is object => typeof value === "object" && value !== null

const literal = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`
  if (!isTable(value)) return JSON.stringify(value)
  const fields = Object.entries(value).map(([name, field]) => `${name} = ${literal(field)}`)
  return `{ ${fields.join(", ")} }`
}

const entry = (setting: Setting, name: string, detected: unknown): string => {
  const line = `${name} = ${literal(detected ?? setting.fallback ?? setting.example)}`
  return `# ${setting.description}\n${detected === undefined ? `# ${line}` : line}\n`
}

export const renderConfigFile = (gates: ReadonlyArray<string>): string => {
  const sections = new Map<string, Array<string>>([["", []]])
  for (const setting of settings) {
    const dot = setting.path.indexOf(".")
    const section = dot < 0 ? "" : setting.path.slice(0, dot)
    const lines = sections.get(section) ?? []
    const detected = setting.path === "gates.quality" && gates.length > 0 ? gates : undefined
    lines.push(entry(setting, setting.path.slice(dot + 1), detected))
    sections.set(section, lines)
  }
  const body = [...sections].map(([section, lines]) =>
    section === "" ? lines.join("\n") : `[${section}]\n${lines.join("\n")}`
  )
  return [
    `#:schema ${schemaPath}`,
    "# What Reprise does in this repository. Later sources win: reprise.local.toml, the plan's front matter, REPRISE_…",
    "# variables, flags.",
    "",
    ...body
  ].join("\n")
}
