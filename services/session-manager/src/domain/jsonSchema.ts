/** JSON schemas (2020-12) that callers give for reports of their own (protocol: StartTurn, report). */
import { JsonSchema, Result, Schema, SchemaRepresentation } from "effect"

export type JsonObject = typeof Schema.JsonObject.Type

const decodeObject = Schema.decodeUnknownResult(Schema.JsonObject)
type Decode = (value: unknown) => Result.Result<unknown, Schema.SchemaError>

/** Patterns are not applied: a hostile one could hold the whole service up. */
const compile = (form: JsonObject): Decode => {
  const document = JsonSchema.fromSchemaDraft2020_12(form)
  const { ast } = SchemaRepresentation.fromJsonSchemaDocument(document, { patterns: "ignore" })
  return Schema.decodeUnknownResult(Schema.make<Schema.Codec<unknown>>(ast), { errors: "all" })
}

/** A reader of objects that fit the schema, or why the schema cannot be used. */
export const readJsonSchema = (
  form: JsonObject
): Result.Result<(value: object) => Result.Result<JsonObject, string>, string> =>
  Result.map(
    Result.try({ try: () => compile(form), catch: (cause) => String(cause) }),
    (decode) => (value) => Result.mapError(Result.flatMap(decode(value), decodeObject), (error) => error.message)
  )
