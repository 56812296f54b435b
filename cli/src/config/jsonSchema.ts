/** The JSON schema of `reprise.toml`, made from the settings. Pure. */
import { Schema } from "effect"
import { settings } from "./settings.ts"

/** Relative to the project's root, as `reprise.toml` refers to it. */
export const schemaPath = ".reprise/schema.json"

type Json = Record<string, unknown>

export const configSchema = (): Json => {
  const root: Json = {}
  const sections: Record<string, Json> = {}
  for (const setting of settings) {
    const { schema } = Schema.toJsonSchemaDocument(setting.schema)
    const property = {
      ...schema,
      description: setting.description,
      ...(setting.fallback === undefined ? {} : { default: setting.fallback })
    }
    const dot = setting.path.indexOf(".")
    if (dot < 0) root[setting.path] = property
    else {
      const section = setting.path.slice(0, dot)
      sections[section] = { ...sections[section], [setting.path.slice(dot + 1)]: property }
    }
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
