/** Reading stored messages back. */
import { DeliverPolicy, type JsMsg, type StoredMsg } from "@nats-io/jetstream"
import { attempt, untilAnswered } from "@reprise/nats"
import { Effect } from "effect"
import { type BrokerShape, Sequence, type StoredMessage, type StreamKind } from "../broker/Broker.ts"
import { BodyLost } from "../broker/faults.ts"
import { type Connection, fault } from "./Connection.ts"
import { bodyHeader, bodyPrefix, decodeText, type LargeBodies } from "./largeBodies.ts"
import { silenceMs, within } from "./silence.ts"

/** Tails no longer than this are read one message at a time: cheaper than making a consumer. */
const shortTail = 4
const longestReadMs = 30_000

/**
 * Streams whose messages services take by named consumers are read one message at a time: whoever may make consumers there
 * could take a message from another service. What one actor has there is never much. A person makes consumers only for
 * events.
 */
const isReadOneByOne = (kind: StreamKind, identity: string): boolean =>
  kind !== "events" && (identity === "person" || (kind !== "journal" && kind !== "dead"))

const bodyOf = (bodies: LargeBodies, object: string, data: Uint8Array): StoredMessage["body"] => {
  if (object === "") return Effect.sync(() => decodeText(data))
  // The object store also holds transcripts, and a message must not give them away.
  return object.startsWith(bodyPrefix) ? bodies.get(object) : Effect.fail(new BodyLost({ object }))
}

/** A message of the client as the port's, with its large body behind `body`. */
export const storedMessage = (
  bodies: LargeBodies,
  { data, seq, subject }: Pick<StoredMsg | JsMsg, "subject" | "seq" | "data">,
  header: (name: string) => string
): StoredMessage => ({ subject, sequence: Sequence(seq), header, body: bodyOf(bodies, header(bodyHeader), data) })

type Query =
  | { readonly last_by_subj: string }
  | { readonly seq: number }
  | { readonly seq: number; readonly next_by_subj: string }

/** One message as the leader knows it: a replica that lags would show an old tail. */
const getMessage = ({ jsm }: Connection, bodies: LargeBodies, stream: string, query: Query) =>
  attempt(`read ${stream}`, () => jsm.streams.getMessage(stream, query)).pipe(
    untilAnswered,
    Effect.mapError(fault(`read ${stream}`)),
    Effect.map((message) =>
      message === null ? undefined : storedMessage(bodies, message, (name) => message.header?.get(name) ?? "")
    )
  )

interface Range {
  readonly subject: string
  readonly from: number
  readonly to: number
}

/** Reads a range of a stream by a consumer that is removed afterwards. `to` is the last message of the subject. */
const readRange = ({ js }: Connection, bodies: LargeBodies, stream: string, { from, subject, to }: Range) => {
  const operation = `read ${subject}`
  const consuming = attempt(operation, async () => {
    const start = { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: from }
    const consumer = await js.consumers.get(stream, { filter_subjects: subject, ...start })
    return { consumer, messages: await consumer.consume({ max_messages: 500, expires: 5_000 }) }
  })
  return Effect.acquireUseRelease(
    consuming,
    ({ messages }) =>
      attempt(operation, async () => {
        const found: Array<StoredMessage> = []
        const arriving = messages[Symbol.asyncIterator]()
        for (;;) {
          // The client notices that messages were lost only when another one comes after them.
          const { done, value: message } = await within(silenceMs, arriving.next())
          if (done === true) return found
          found.push(storedMessage(bodies, message, (name) => message.headers?.get(name) ?? ""))
          if (message.seq >= to) return found
        }
      }),
    ({ consumer, messages }) =>
      Effect.sync(() => messages.stop()).pipe(
        Effect.andThen(attempt(operation, () => consumer.delete())),
        Effect.ignore
      )
  ).pipe(
    untilAnswered,
    // The last message may be pruned meanwhile, and then it does not come.
    Effect.timeout(`${longestReadMs} millis`),
    Effect.mapError(fault(operation))
  )
}

export const makeRead = (
  connection: Connection,
  bodies: LargeBodies
): Pick<BrokerShape, "last" | "next" | "read" | "purge" | "remove"> => {
  const { jsm, nats, subjects } = connection

  const last = (kind: StreamKind, subject: string) =>
    getMessage(connection, bodies, subjects.streams[kind], { last_by_subj: subject })

  const next = (kind: StreamKind, subject: string, after: number) =>
    getMessage(connection, bodies, subjects.streams[kind], { seq: after + 1, next_by_subj: subject })

  /** Up to the newest message. Undefined: it was removed meanwhile. */
  const readTo = Effect.fnUntraced(function* (kind: StreamKind, newest: StoredMessage, subject: string, after: number) {
    const stream = subjects.streams[kind]
    const longest = isReadOneByOne(kind, nats.identity) ? Infinity : shortTail
    const found: Array<StoredMessage> = []
    let read = after
    while (read < newest.sequence && found.length < longest) {
      const message = yield* next(kind, subject, read)
      if (message === undefined || message.sequence > newest.sequence) return undefined
      found.push(message)
      read = message.sequence
    }
    if (read === newest.sequence) return found
    const range = { subject, from: read + 1, to: newest.sequence }
    return found.concat(yield* readRange(connection, bodies, stream, range))
  })

  /** Begins again when messages are removed meanwhile: a part of a journal would be another story. */
  const read = Effect.fnUntraced(function* (kind: StreamKind, subject: string, after: number) {
    for (;;) {
      const newest = yield* last(kind, subject)
      if (newest === undefined || newest.sequence <= after) return []
      const found = yield* readTo(kind, newest, subject, after)
      if (found !== undefined) return found
    }
  })

  const purge = Effect.fnUntraced(function* (kind: StreamKind, subject: string) {
    const large = (yield* read(kind, subject, 0)).map(({ header }) => header(bodyHeader)).filter((name) => name !== "")
    yield* attempt(`purge ${subject}`, () => jsm.streams.purge(subjects.streams[kind], { filter: subject })).pipe(
      untilAnswered,
      Effect.mapError(fault(`purge ${subject}`))
    )
    yield* Effect.forEach(large, bodies.remove, { discard: true })
  })

  const remove = Effect.fnUntraced(function* (kind: StreamKind, sequence: number) {
    const operation = `remove message ${sequence} of ${kind}`
    const stream = subjects.streams[kind]
    const message = yield* getMessage(connection, bodies, stream, { seq: sequence })
    if (message === undefined) return
    yield* attempt(operation, () => jsm.streams.deleteMessage(stream, sequence)).pipe(Effect.mapError(fault(operation)))
    const large = message.header(bodyHeader)
    if (large !== "") yield* bodies.remove(large)
  })

  return { last, next, read, purge, remove }
}
