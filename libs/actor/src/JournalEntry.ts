/**
 * One decision: what came in, what it meant, and everything that is sent because of it, so that a repeat needs no
 * second decision. The single write of an entry is the commit point (architecture: durable intent, step 5).
 */
import { Result, Schema } from "effect"
import { Undecodable } from "./wire.ts"

/** Something to send, complete but for its id, which derives from the entry's sequence. */
export const JournalledOutgoing = Schema.Struct({
  subject: Schema.String,
  type: Schema.String,
  payload: Schema.Unknown,
  dueAt: Schema.optionalKey(Schema.String)
})
export type JournalledOutgoing = typeof JournalledOutgoing.Type

export const JournalEntry = Schema.Struct({
  input: Schema.Struct({ id: Schema.String, type: Schema.String }),
  /** When it was decided, ISO 8601. */
  at: Schema.String,
  /** The run it belongs to: the envelope's subject of everything it sends. */
  run: Schema.String,
  traceparent: Schema.String,
  events: Schema.Array(Schema.Unknown),
  outgoing: Schema.Array(JournalledOutgoing)
})
export type JournalEntry = typeof JournalEntry.Type

const decode = Schema.decodeUnknownResult(Schema.fromJsonString(JournalEntry))

export const readEntry = (body: string): Result.Result<JournalEntry, Undecodable> =>
  Result.mapError(decode(body), (error) => new Undecodable({ reason: `A journal entry is wrong: ${error.message}` }))
