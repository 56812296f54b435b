import { Effect, FileSystem, Schema } from "effect"
import { Script } from "./Script.ts"

/** A script that cannot be used: unreadable, no JSON, or not of the schema. The message says where and what. */
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

/** Checks a script given as an object; unknown keys are refused, so that a misspelt one is not silently ignored. */
export const decodeScript = (input: unknown, source = "given as an object"): Effect.Effect<Script, ScriptError> =>
  decode(input).pipe(Effect.mapError((error) => new ScriptError({ source, problem: error.message })))

/** Reads and checks a script file. */
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
