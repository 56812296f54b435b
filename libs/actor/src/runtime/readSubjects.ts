/**
 * The messages of a subject by one of their headers. Each is read once while the actor is in memory: a subject may have
 * thousands of messages, and each input that is delivered again looks for what it led to.
 */
import { Effect } from "effect"
import type { BrokerShape, StreamKind } from "../broker/Broker.ts"

/** As far as a subject was read. */
interface ReadSubject {
  readTo: number
  readonly sequences: Map<string, number>
}

export type ReadSubjects = Map<string, ReadSubject>

/** Reads what is new, without bodies. Gives the sequences of all messages of the subject, by what the header says. */
export const readSubject = Effect.fnUntraced(function* (
  broker: BrokerShape,
  stream: StreamKind,
  subject: string,
  header: "ce-id" | "reprise-causation",
  read: ReadSubjects
) {
  const known = read.get(subject) ?? { readTo: 0, sequences: new Map<string, number>() }
  read.set(subject, known)
  for (const message of yield* broker.read(stream, subject, known.readTo)) {
    known.readTo = message.sequence
    known.sequences.set(message.header(header), message.sequence)
  }
  return known.sequences
})
