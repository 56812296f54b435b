/** JSON schemas (2020-12) that callers give for reports of their own (docs/design/protocol.md#messages). */
import { JsonSchema, Result, Schema, SchemaRepresentation } from "effect"

export type JsonObject = typeof Schema.JsonObject.Type

const decodeObject = Schema.decodeUnknownResult(Schema.JsonObject)
type Decode = (value: unknown) => Result.Result<unknown, Schema.SchemaError>

/** Patterns are ignored: matching a hostile one could block the whole service. */
const compile = (form: JsonObject): Decode => {
  const document = JsonSchema.fromSchemaDraft2020_12(form)
  const { ast } = SchemaRepresentation.fromJsonSchemaDocument(document, { patterns: "ignore" })
  return Schema.decodeUnknownResult(Schema.make<Schema.Codec<unknown>>(ast), { errors: "all" })
}

const types: ReadonlyArray<unknown> = ["object", "array", "string", "number", "integer", "boolean", "null"]

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const typesOf = ({ type }: JsonObject): ReadonlyArray<unknown> =>
  type === undefined ? [] : Array.isArray(type) ? type : [type]

/** The schemas that a schema is made of. */
const partsOf = ({ $defs, additionalProperties, allOf, anyOf, items, oneOf, properties }: JsonObject) => [
  ...[$defs, properties].flatMap((named) => (isObject(named) ? Object.values(named) : [])),
  ...[allOf, anyOf, oneOf].flatMap((some) => (Array.isArray(some) ? some : [])),
  additionalProperties,
  items
]

/** No report can fit a type that JSON does not have: the agent would try in vain. */
const unknownType = (form: JsonObject): unknown =>
  typesOf(form).find((type) => !types.includes(type)) ??
  partsOf(form)
    .filter(isObject)
    .map(unknownType)
    .find((type) => type !== undefined)

/** Why no report could ever fit the schema; undefined: one could. */
const problemOf = (form: JsonObject): string | undefined => {
  const unknown = unknownType(form)
  if (unknown !== undefined) return `there is no type ${JSON.stringify(unknown)}`
  const whole = typesOf(form)
  return whole.length === 0 || whole.includes("object") ? undefined : "a report is an object"
}

/** A decoder of objects that fit the schema, or why the schema cannot be used. */
export const readJsonSchema = (
  form: JsonObject
): Result.Result<(value: object) => Result.Result<JsonObject, string>, string> =>
  Result.map(
    Result.flatMap(Result.try({ try: () => problemOf(form), catch: (cause) => String(cause) }), (problem) =>
      problem === undefined
        ? Result.try({ try: () => compile(form), catch: (cause) => String(cause) })
        : Result.fail(problem)
    ),
    (decode) => (value) => Result.mapError(Result.flatMap(decode(value), decodeObject), (error) => error.message)
  )
