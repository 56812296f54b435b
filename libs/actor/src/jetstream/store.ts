/** Storing and reading back. */
import { DeliverPolicy, type JsMsg, type StoredMsg } from "@nats-io/jetstream"
import { headers } from "@nats-io/transport-node"
import { attempt, Nats, publish as publishStored } from "@reprise/nats"
import { encodeMeta } from "@reprise/protocol"
import { Effect } from "effect"
import type { BrokerShape, Message, StoredMessage, StreamKind } from "../broker/Broker.ts"
import { BodyLost, Conflict } from "../broker/faults.ts"
import { streamOf } from "../broker/streamOf.ts"
import { dueHeader } from "../runtime/takeTimer.ts"
import { type Connection, fault, faultOf } from "./Connection.ts"
import { bodyHeader, decodeText, isLarge, type LargeBodies } from "./largeBodies.ts"

/** Reads of a tail no longer than this ask for one message at a time: cheaper than making a consumer. */
const shortTail = 4
const longestReadMs = 30_000

/** The object store holds other things too, which are no message's body. */
const bodyPrefix = "body/"

export const storedMessage = (
  bodies: LargeBodies,
  message: Pick<StoredMsg | JsMsg, "subject" | "seq" | "data">,
  header: (name: string) => string
): StoredMessage => {
  const object = header(bodyHeader)
  return {
    subject: message.subject,
    sequence: message.seq,
    header,
    body:
      object === ""
        ? Effect.sync(() => decodeText(message.data))
        : object.startsWith(bodyPrefix)
          ? bodies.get(object)
          : Effect.fail(new BodyLost({ object }))
  }
}

const fromStored = (bodies: LargeBodies, message: StoredMsg) =>
  storedMessage(bodies, message, (name) => message.header?.get(name) ?? "")

export const makeStore = (
  connection: Connection,
  bodies: LargeBodies
): Pick<BrokerShape, "append" | "publish" | "last" | "read" | "purge"> => {
  const { js, jsm, nats, subjects } = connection

  /** The message as it is stored: a large body goes first, so that a stored reference always leads somewhere. */
  const prepare = Effect.fnUntraced(function* ({ body, dueAt, meta, subject }: Message) {
    const fields = encodeMeta(meta)
    if (dueAt !== undefined) fields[dueHeader] = dueAt
    const kind = streamOf(subject)
    if (kind === undefined) return yield* fault(`store ${subject}`)(new Error("no stream keeps this subject"))
    const stream = subjects.streams[kind]
    if (!isLarge(body)) return { stream, subject, id: meta.id, body, headers: fields } satisfies Prepared
    const object = objectOf(meta.id)
    yield* bodies.put(object, body)
    return { stream, subject, id: meta.id, body: "", headers: { ...fields, [bodyHeader]: object } } satisfies Prepared
  })

  const once = (message: Prepared, expected?: number) =>
    js.publish(message.subject, message.body, {
      msgID: message.id,
      headers: headersOf(message.headers),
      timeout: patience.attemptTimeoutMs,
      expect: {
        streamName: message.stream,
        ...(expected === undefined ? {} : { lastSubjectSequence: expected })
      }
    })

  /** Until it is known whether the message is stored: again with the same id, reading back after a conflict. */
  const untilKnown = (message: Prepared, expected?: number) =>
    publishStored(
      { ...message, ...(expected === undefined ? {} : { expectedLastSubjectSequence: expected }) },
      patience
    ).pipe(Effect.provideService(Nats, nats))

  const publish = Effect.fnUntraced(function* (messages: ReadonlyArray<Message>) {
    if (messages.length === 0) return
    const prepared = yield* Effect.forEach(messages, prepare)
    const operation = `publish to ${prepared.map(({ subject }) => subject).join(", ")}`
    yield* attempt(operation, () => Promise.all(prepared.map((message) => once(message)))).pipe(
      Effect.catchTag("RequestTimedOut", () =>
        Effect.forEach(prepared, (message) => untilKnown(message), { concurrency: "unbounded" })
      ),
      Effect.mapError(faultOf(operation))
    )
  })

  const getMessage = (stream: string, query: Parameters<typeof jsm.streams.getMessage>[1]) =>
    attempt(`read ${stream}`, () => jsm.streams.getMessage(stream, query)).pipe(
      Effect.mapError(fault(`read ${stream}`)),
      Effect.map((message) => (message === null ? undefined : fromStored(bodies, message)))
    )

  const last = (kind: StreamKind, subject: string) => getMessage(subjects.streams[kind], { last_by_subj: subject })

  /** Servers from 2.12 check the sequence before the id, so a repeat of what is stored looks like a conflict. */
  const unlessMine = Effect.fnUntraced(function* (message: Prepared, conflict: Conflict) {
    const newest = yield* last("journal", message.subject)
    return newest?.header("Nats-Msg-Id") === message.id ? newest.sequence : yield* conflict
  })

  const append = Effect.fnUntraced(function* (message: Message, expected: number) {
    const prepared = yield* prepare(message)
    const operation = `append to ${message.subject}`
    return yield* attempt(operation, () => once(prepared, expected)).pipe(
      Effect.map(({ seq }) => seq),
      Effect.catchTag("RequestTimedOut", () => Effect.map(untilKnown(prepared, expected), ({ sequence }) => sequence)),
      Effect.mapError((error) =>
        error._tag === "WrongSequence"
          ? new Conflict({ subject: message.subject, expected })
          : faultOf(operation)(error)
      ),
      Effect.catchTag("Conflict", (conflict) => unlessMine(prepared, conflict)),
      // Nothing refers to the object of an append that lost its race.
      Effect.tapErrorTag("Conflict", () =>
        prepared.body === "" ? Effect.ignore(bodies.remove(objectOf(prepared.id))) : Effect.void
      )
    )
  })

  /** A consumer of its own, gone afterwards, from `from` to the message at `to`. */
  const readThrough = (stream: string, subject: string, from: number, to: number) => {
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
          for await (const message of messages) {
            found.push(storedMessage(bodies, message, (name) => message.headers?.get(name) ?? ""))
            if (message.seq >= to) break
          }
          return found
        }),
      ({ consumer, messages }) =>
        Effect.sync(() => messages.stop()).pipe(
          Effect.andThen(attempt(operation, () => consumer.delete())),
          Effect.ignore
        )
    ).pipe(
      // What was pruned meanwhile does not come.
      Effect.timeout(`${longestReadMs} millis`),
      Effect.mapError(fault(operation))
    )
  }

  const read = Effect.fnUntraced(function* (kind: StreamKind, subject: string, after: number, limit = Infinity) {
    const stream = subjects.streams[kind]
    const found: Array<StoredMessage> = []
    let next = after + 1
    while (found.length < Math.min(limit, shortTail)) {
      // Asked of the leader: a replica that lags would show an old tail. (The client's types know it for replicas only.)
      const query = { seq: next, next_by_subj: subject }
      const message = yield* getMessage(stream, query)
      if (message === undefined) return found
      found.push(message)
      next = message.sequence + 1
    }
    if (found.length >= limit) return found
    const newest = yield* last(kind, subject)
    if (newest === undefined || newest.sequence < next) return found
    return found.concat(yield* readThrough(stream, subject, next, newest.sequence))
  })

  const purge = Effect.fnUntraced(function* (kind: StreamKind, subject: string) {
    const large = (yield* read(kind, subject, 0)).map(({ header }) => header(bodyHeader)).filter((name) => name !== "")
    yield* attempt(`purge ${subject}`, () => jsm.streams.purge(subjects.streams[kind], { filter: subject })).pipe(
      Effect.mapError(fault(`purge ${subject}`))
    )
    yield* Effect.forEach(large, bodies.remove, { discard: true })
  })

  return { append, publish, last, read, purge }
}

/** An attempt without an answer is repeated after this; the whole is a fault after five seconds, and tried again later. */
const patience = { attemptTimeoutMs: 300, giveUpAfterMs: 5_000 }

const objectOf = (id: string) => `${bodyPrefix}${id}`

/** A message as the client takes it. */
interface Prepared {
  readonly stream: string
  readonly subject: string
  readonly id: string
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

const headersOf = (fields: Readonly<Record<string, string>>) => {
  const envelope = headers()
  for (const [name, value] of Object.entries(fields)) envelope.set(name, value)
  return envelope
}
