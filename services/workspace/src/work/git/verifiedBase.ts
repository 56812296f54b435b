/** From where on the work of a phase was verified, and up to where: a record beside Reprise's own index of the tree, where no command can write. */
import { readForeignText, replaceFile } from "@reprise/process"
import { Effect, Result, Schema } from "effect"
import { HostFault } from "../faults.ts"

/** `commit`: what was verified last; absent in records of earlier versions, as `submodules`: those that the work moves. */
const VerifiedBase = Schema.Struct({
  runId: Schema.String,
  phase: Schema.String,
  base: Schema.String,
  commit: Schema.optionalKey(Schema.String),
  submodules: Schema.optionalKey(
    Schema.Array(Schema.Struct({ path: Schema.String, before: Schema.String, now: Schema.String }))
  )
})
export type VerifiedBase = typeof VerifiedBase.Type

const decode = Schema.decodeUnknownResult(Schema.fromJsonString(VerifiedBase))

const recordOf = (folder: string) => `${folder}-verified.json`

const attempt = <A>(run: () => Promise<A>) =>
  Effect.tryPromise({
    try: run,
    catch: (cause) => new HostFault({ operation: "recording from where on the work was verified", cause })
  })

/** `folder`: that of Reprise's own index of the tree. */
export const verifiedBase = Effect.fnUntraced(function* (folder: string) {
  const text = yield* attempt(() => readForeignText(recordOf(folder), { largestBytes: 64 * 1024, follow: false }))
  return text === undefined ? undefined : Result.getOrUndefined(decode(text))
})

export const recordVerifiedBase = (folder: string, record: VerifiedBase) =>
  attempt(() => replaceFile(recordOf(folder), JSON.stringify(record)))
