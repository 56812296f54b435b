/** The fields of a schema in words: their types, and the value of a field that is left out. */
import { Result, Schema } from "effect"
import { code } from "./markdown.ts"

type Json = Readonly<Record<string, unknown>>

/** Types that have a name of their own in the reference: by their schema, and by their JSON schema. */
export interface Names {
  readonly ofSchema: ReadonlyMap<unknown, string>
  readonly ofJson: ReadonlyMap<string, string>
}

const isJson = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

export const jsonSchemaOf = (schema: Schema.Top): Json => {
  const { schema: json } = Schema.toJsonSchemaDocument(schema)
  return isJson(json) ? json : {}
}

const link = (name: string): string => `[${name}](#${name.toLowerCase()})`

const literals = (values: ReadonlyArray<unknown>): string =>
  values.length === 1 ? code(String(values[0])) : `one of ${values.map((value) => code(String(value))).join(", ")}`

const properties = (json: Json, names: Names): string => {
  const fields = isJson(json["properties"]) ? json["properties"] : {}
  const required = Array.isArray(json["required"]) ? json["required"] : []
  const listed = Object.entries(fields).map(
    ([name, type]) => `${name}${required.includes(name) ? "" : "?"}: ${jsonType(type, names)}`
  )
  return `{ ${listed.join(", ")} }`
}

/** A JSON schema as a few words; a named type as a link to it. */
export const jsonType = (json: unknown, names: Names): string => {
  if (!isJson(json)) return "anything"
  const name = names.ofJson.get(JSON.stringify(json))
  if (name !== undefined) return link(name)
  if (Array.isArray(json["enum"])) return literals(json["enum"])
  if (Array.isArray(json["anyOf"])) return json["anyOf"].map((one) => jsonType(one, names)).join(" or ")
  if (json["type"] === "array") return `list of ${jsonType(json["items"], names)}`
  if (json["type"] === "integer") return json["minimum"] === 0 ? "integer from 0" : "integer"
  if (json["type"] !== "object") return typeof json["type"] === "string" ? json["type"] : "anything"
  if (isJson(json["properties"])) return properties(json, names)
  return isJson(json["additionalProperties"]) ? `record of ${jsonType(json["additionalProperties"], names)}` : "object"
}

const inner = (field: Schema.Top): unknown => ("schema" in field ? field.schema : "to" in field ? field.to : undefined)

const typeOf = (field: Schema.Top, names: Names): string => {
  const name = names.ofSchema.get(field) ?? names.ofSchema.get(inner(field))
  if (name !== undefined) return link(name)
  const properties = jsonSchemaOf(Schema.Struct({ field }))["properties"]
  return jsonType(isJson(properties) ? properties["field"] : undefined, names)
}

/** The value of a field that is left out: a default that the reader fills in, or nothing. */
const presenceOf = (field: Schema.Codec<unknown, unknown>): string => {
  const decoded = Schema.decodeUnknownResult(Schema.Struct({ field }))({})
  if (Result.isFailure(decoded)) return "required"
  if (!("field" in decoded.success)) return "optional"
  const text = JSON.stringify(decoded.success.field)
  return text.length > 60 ? "default: each field's default" : `default: ${code(text)}`
}

export interface Field {
  readonly name: string
  readonly type: string
  readonly presence: string
}

/** The fields of a struct. The tag is not listed: it travels in the envelope. */
export const fieldsOf = (
  schema: { readonly fields: Readonly<Record<string, Schema.Codec<unknown, unknown>>> },
  names: Names
): ReadonlyArray<Field> =>
  Object.entries(schema.fields)
    .filter(([name]) => name !== "_tag")
    .map(([name, field]) => ({ name, type: typeOf(field, names), presence: presenceOf(field) }))
