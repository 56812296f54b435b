/** Storing messages, and finding out whether one whose answer was lost is stored. */
import { attempt, type MessageToStore, Nats, publish as publishStored, storeOnce } from "@reprise/nats"
import { encodeMeta } from "@reprise/protocol"
import { Effect } from "effect"
import { type BrokerShape, dueHeader, type Message, Sequence, streamOf } from "../broker/Broker.ts"
import { Conflict } from "../broker/faults.ts"
import { type Connection, fault, faultOf } from "./Connection.ts"
import { bodyHeader, bodyPrefix, isLarge, type LargeBodies } from "./largeBodies.ts"

/** An attempt without an answer is repeated, at first after 300 ms; in the end it is a fault, which the caller retries. */
const limits = { attemptTimeoutMs: 300, giveUpAfterMs: 15_000 }

const objectOf = (id: string) => `${bodyPrefix}${id}`

/** A large body is stored before the message, so that a stored reference always leads to its object. */
const prepare = Effect.fnUntraced(function* (
  { subjects }: Connection,
  bodies: LargeBodies,
  { body, dueAt, meta, subject }: Message
) {
  const fields = encodeMeta(meta)
  if (dueAt !== undefined) fields[dueHeader] = dueAt
  const kind = streamOf(subject)
  if (kind === undefined) return yield* fault(`store ${subject}`)(new Error("no stream keeps this subject"))
  const stream = subjects.streams[kind]
  if (!isLarge(body)) return { stream, subject, id: meta.id, body, headers: fields } satisfies MessageToStore
  const object = objectOf(meta.id)
  yield* bodies.put(object, body)
  return {
    stream,
    subject,
    id: meta.id,
    body: "",
    headers: { ...fields, [bodyHeader]: object }
  } satisfies MessageToStore
})

const store = ({ nc }: Connection, message: MessageToStore) => storeOnce(nc, message, limits.attemptTimeoutMs)

/** Until it is known whether the message is stored: again with the same id, reading back after a conflict. */
const storeUntilKnown = ({ nats }: Connection, message: MessageToStore) =>
  publishStored(message, limits).pipe(Effect.provideService(Nats, nats))

const makePublish = (connection: Connection, bodies: LargeBodies): BrokerShape["publish"] =>
  Effect.fnUntraced(function* (messages) {
    if (messages.length === 0) return
    const prepared = yield* Effect.forEach(messages, (message) => prepare(connection, bodies, message))
    const operation = `publish to ${prepared.map(({ subject }) => subject).join(", ")}`
    yield* attempt(operation, () => Promise.all(prepared.map((message) => store(connection, message)))).pipe(
      Effect.catchTag("RequestTimedOut", () =>
        Effect.forEach(prepared, (message) => storeUntilKnown(connection, message), { concurrency: "unbounded" })
      ),
      Effect.mapError(faultOf(operation))
    )
  })

const makeAppend = (connection: Connection, bodies: LargeBodies, next: BrokerShape["next"]): BrokerShape["append"] => {
  /**
   * Servers from 2.12 check the sequence before the id, so a repeat of a stored message looks like a conflict. The first
   * message after the expected one has won the race; others may have come after it.
   */
  const unlessStored = Effect.fnUntraced(function* (message: MessageToStore, conflict: Conflict) {
    const winner = yield* next("journal", message.subject, conflict.expected)
    return winner?.header("Nats-Msg-Id") === message.id ? winner.sequence : yield* conflict
  })

  /** No message refers to the object of an append that lost its race. */
  const removeBody = ({ body, id }: MessageToStore) =>
    body === "" ? Effect.ignore(bodies.remove(objectOf(id))) : Effect.void

  return Effect.fnUntraced(function* (message, expected) {
    const { subject } = message
    const prepared = {
      ...(yield* prepare(connection, bodies, message)),
      expectedLastSubjectSequence: expected
    } satisfies MessageToStore
    const operation = `append to ${subject}`
    return yield* attempt(operation, () => store(connection, prepared)).pipe(
      Effect.catchTag("RequestTimedOut", () => storeUntilKnown(connection, prepared)),
      Effect.map(({ sequence }) => Sequence(sequence)),
      Effect.mapError((error) =>
        error._tag === "WrongSequence" ? new Conflict({ subject, expected }) : faultOf(operation)(error)
      ),
      Effect.catchTag("Conflict", (conflict) => unlessStored(prepared, conflict)),
      Effect.tapErrorTag("Conflict", () => removeBody(prepared))
    )
  })
}

export const makeStore = (
  connection: Connection,
  bodies: LargeBodies,
  next: BrokerShape["next"]
): Pick<BrokerShape, "append" | "publish"> => ({
  append: makeAppend(connection, bodies, next),
  publish: makePublish(connection, bodies)
})
