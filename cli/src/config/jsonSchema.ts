/** The JSON schema of `reprise.toml`, made from the settings, and its copy where editors find it. */
import { join } from "node:path"
import { readIfPresent, replaceFile } from "@reprise/process"
import { Effect, Schema } from "effect"
import type { Project } from "../project/Project.ts"
import { prepareState } from "../project/stateOrigin.ts"
import { missing } from "../terminal/CliFailure.ts"
import { settingsTable } from "./settingsTable.ts"

/** Relative to the project's root, as `reprise.toml` refers to it. */
export const schemaPath = ".reprise/schema.json"

type Json = Record<string, unknown>

export const configSchema = (): Json => {
  const root: Json = {}
  const sections: Record<string, Json> = {}
  for (const { description, fallback, key, schema, section } of settingsTable) {
    const document = Schema.toJsonSchemaDocument(schema)
    const property = { ...document.schema, description, ...(fallback === undefined ? {} : { default: fallback }) }
    if (section === "") root[key] = property
    else sections[section] = { ...sections[section], [key]: property }
  }
  for (const [name, properties] of Object.entries(sections)) {
    root[name] = { type: "object", additionalProperties: false, properties }
  }
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "reprise.toml",
    type: "object",
    additionalProperties: false,
    properties: root
  }
}

/** As it is published in `docs/reference/reprise.schema.json`. */
export const configSchemaText = (): string => `${JSON.stringify(configSchema(), null, 2)}\n`

/**
 * Writes the schema of the running version to `.reprise/schema.json` unless it is there: a new clone has none, and an
 * older version wrote another one. Returns its path.
 */
export const ensureSchemaFile = Effect.fnUntraced(function* (project: Project) {
  const path = join(project.root, schemaPath)
  const text = configSchemaText()
  const present = yield* Effect.promise(() => readIfPresent(path).catch(() => undefined))
  if (present === text) return path
  yield* prepareState(project)
  yield* Effect.tryPromise({
    try: () => replaceFile(path, text, { mode: 0o666 }),
    catch: (cause) => missing("state", `${schemaPath} cannot be written.`, "Check its permissions and the disk.", cause)
  })
  return path
})
