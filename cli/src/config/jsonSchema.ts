/** The JSON schema of `reprise.toml`, made from the settings, and its copy where editors find it. */

import { join } from "node:path"
import { readForeignText, replaceFile } from "@reprise/process"
import { defined } from "@reprise/protocol"
import { Effect, Schema } from "effect"
import type { Project } from "../project/Project.ts"
import { prepareState } from "../project/stateOrigin.ts"
import { missing } from "../terminal/CliFailure.ts"
import { otherNames } from "./agentSettings.ts"
import { type Setting, settingsTable } from "./settingsTable.ts"

/** Relative to the project's root, as `reprise.toml` refers to it. */
export const schemaPath = ".reprise/schema.json"

type Json = Record<string, unknown>

const isJson = (value: unknown): value is Json => typeof value === "object" && value !== null

/** The properties with one more, in the sections that its path names. */
const withProperty = (properties: Json, [name = "", ...inner]: ReadonlyArray<string>, property: Json): Json => {
  if (inner.length === 0) return { ...properties, [name]: property }
  const section = properties[name]
  const known = isJson(section) && isJson(section["properties"]) ? section["properties"] : {}
  const nested = withProperty(known, inner, property)
  return { ...properties, [name]: { type: "object", additionalProperties: false, properties: nested } }
}

const propertyOf = ({ description, fallback, schema }: Setting): Json => {
  const document = Schema.toJsonSchemaDocument(schema)
  return { ...document.schema, description, ...defined({ default: fallback }) }
}

export const configSchema = (): Json => {
  let root: Json = {}
  for (const setting of settingsTable) root = withProperty(root, setting.writtenAs.split("."), propertyOf(setting))
  for (const setting of settingsTable) {
    const { path, writtenAs } = setting
    if (path !== writtenAs) root = { ...root, [path]: { anyOf: [propertyOf(setting), root[path]] } }
    for (const [name, named] of Object.entries(otherNames)) {
      if (named === path) root = withProperty(root, name.split("."), propertyOf(setting))
    }
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
  const present = yield* Effect.promise(() =>
    readForeignText(path, { largestBytes: 1024 * 1024, follow: false }).catch(() => undefined)
  )
  if (present === text) return path
  yield* prepareState(project)
  yield* Effect.tryPromise({
    try: () => replaceFile(path, text, { mode: 0o666 }),
    catch: (cause) => missing("state", `${schemaPath} cannot be written.`, "Check its permissions and the disk.", cause)
  })
  return path
})
