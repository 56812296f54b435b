/**
 * One decision: the input, the events it became, and every message that is sent because of it, so that sending again
 * needs no second decision. The single write of an entry is the commit point
 * (docs/design/architecture.md#how-an-actor-works-durable-intent).
 */
import { Result, Schema } from "effect"
import { textReader, Undecodable } from "./wire.ts"

/** A message to send, complete except for its id, which derives from the entry's sequence. */
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

const decode = textReader(JournalEntry)

/** Reads an entry from JSON text. Never throws. */
export const readEntry = (body: string): Result.Result<JournalEntry, Undecodable> =>
  Result.mapError(
    decode(body),
    (error) => new Undecodable({ reason: `The journal entry cannot be read: ${error.message}` })
  )
