import { Effect, FileSystem, Schema } from "effect"
import { Script } from "./Script.ts"

/** The script cannot be read, is not JSON, or does not follow the schema. The message says where and what is wrong. */
export class ScriptError extends Schema.TaggedError<ScriptError>()("ScriptError", {
  source: Schema.String,
  problem: Schema.String
}) {
  override get message() {
    return `The script of the scripted model (${this.source}) cannot be used:\n${this.problem}`
  }
}

const options = { errors: "all", onExcessProperty: "error" } as const
const decode = Schema.decodeUnknownEffect(Script, options)
const decodeJson = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Unknown))

/** Decodes a script. Unknown keys are refused, so that a misspelt key is an error. */
export const decodeScript = (input: unknown, source = "given as an object"): Effect.Effect<Script, ScriptError> =>
  decode(input).pipe(Effect.mapError((error) => new ScriptError({ source, problem: error.message })))

/** Reads and decodes a script file. */
export const readScript = Effect.fn("readScript")(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const text = yield* fs
    .readFileString(path)
    .pipe(Effect.mapError((error) => new ScriptError({ source: path, problem: error.message })))
  const input = yield* decodeJson(text).pipe(
    Effect.mapError((error) => new ScriptError({ source: path, problem: error.message }))
  )
  return yield* decodeScript(input, path)
})
