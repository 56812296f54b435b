/** An actor's state at one point of its journal. A snapshot of another version, or an unreadable one, is ignored. */
import { Result, Schema } from "effect"

const Snapshot = Schema.Struct({
  version: Schema.Int,
  sequence: Schema.Int,
  state: Schema.Unknown,
  receipts: Schema.Array(Schema.Tuple([Schema.String, Schema.Int]))
})
export type Snapshot = typeof Snapshot.Type

const decode = Schema.decodeUnknownResult(Schema.fromJsonString(Snapshot))

export const readSnapshot = (text: string, version: number): Snapshot | undefined => {
  const snapshot = Result.getOrUndefined(decode(text))
  return snapshot?.version === version ? snapshot : undefined
}

export const writeSnapshot = (snapshot: Snapshot): string => JSON.stringify(snapshot)
