/**
 * One decision: the input, the events it became, and every message that is sent because of it, so that sending again
 * needs no second decision. The single write of an entry is the commit point
 * (docs/design/architecture.md#how-an-actor-works-durable-intent).
 */
import { Predicate, Result, Schema } from "effect"
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

/** A message about an event of an unknown kind lists every kind that there is. */
const longestProblem = 300

const unreadEvent = (event: unknown, { message }: { readonly message: string }): Undecodable => {
  const kind = Predicate.hasProperty(event, "_tag") ? `'${String(event._tag)}'` : "without a kind"
  const problem = message.length > longestProblem ? "." : `: ${message}`
  return new Undecodable({ reason: `This version does not read its event ${kind}${problem}` })
}

/** Reads the events of an entry; fails with the first that this version does not read. Never throws. */
export const eventsReader = <Event>(journal: Schema.Codec<Event, unknown>) => {
  const read = Schema.decodeUnknownResult(journal)
  return (events: ReadonlyArray<unknown>): Result.Result<ReadonlyArray<Event>, Undecodable> =>
    Result.all(events.map((event) => Result.mapError(read(event), (error) => unreadEvent(event, error))))
}
