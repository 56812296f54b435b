/**
 * The text of a new `reprise.toml`: every setting with its meaning and its default, or an example if it has none,
 * commented out unless it was detected. Pure.
 */
import { schemaPath } from "./jsonSchema.ts"
import { type Setting, settingsTable } from "./settingsTable.ts"

const isTable = (value: unknown): value is object => typeof value === "object" && value !== null

const literal = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`
  if (!isTable(value)) return JSON.stringify(value)
  const fields = Object.entries(value).map(([name, field]) => `${name} = ${literal(field)}`)
  return `{ ${fields.join(", ")} }`
}

/** The section and the key of a setting in the file. */
const placeOf = ({ writtenAs }: Setting): readonly [section: string, key: string] => {
  const at = writtenAs.lastIndexOf(".")
  return at === -1 ? ["", writtenAs] : [writtenAs.slice(0, at), writtenAs.slice(at + 1)]
}

const entry = (setting: Setting, detected: unknown): string => {
  const { description, example, fallback } = setting
  const line = `${placeOf(setting)[1]} = ${literal(detected ?? fallback ?? example)}`
  return `# ${description}\n${detected === undefined ? `# ${line}` : line}\n`
}

export const renderConfigFile = (gates: ReadonlyArray<string>): string => {
  const sections = new Map<string, Array<string>>([["", []]])
  for (const setting of settingsTable) {
    const [section] = placeOf(setting)
    const lines = sections.get(section) ?? []
    const detected = setting.path === "gates.quality" && gates.length > 0 ? gates : undefined
    lines.push(entry(setting, detected))
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
