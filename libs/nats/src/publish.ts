/** Stores one message exactly once: short attempts with the same id until the outcome is known. */
import { JetStreamApiError } from "@nats-io/jetstream"
import { errors, headers, type NatsConnection } from "@nats-io/transport-node"
import { Clock, Effect } from "effect"
import { attempt, type BrokerError, type WrongSequence } from "./BrokerError.ts"
import { Nats, type NatsShape } from "./Nats.ts"

export interface MessageToStore {
  readonly stream: string
  readonly subject: string
  /** Within its duplicate window the stream drops a second message with this id. */
  readonly id: string
  readonly body: string | Uint8Array
  readonly headers?: Readonly<Record<string, string>>
  /** Sequence of the subject's last message, 0 for none. The write is refused when another message came first. */
  readonly expectedLastSubjectSequence?: number
}

export interface PublishOptions {
  /**
   * The first attempt is repeated when it has no answer after this time. Each further attempt waits twice as long, so
   * that a slow server has time to answer. Default: 300 ms.
   */
  readonly attemptTimeoutMs?: number
  /** Over all attempts. Default: 30 s. */
  readonly giveUpAfterMs?: number
}

export interface Stored {
  readonly sequence: number
  /** Whether an earlier attempt or process had already stored it. */
  readonly duplicate: boolean
}

/** Before a request is repeated that was answered at once, but without an outcome. */
const pauseMs = 50

/** What the server answers to a message for a stream. */
interface Acknowledgement {
  readonly seq: number
  readonly duplicate?: boolean
  readonly error?: ConstructorParameters<typeof JetStreamApiError>[0]
}

const text = new TextDecoder()

/**
 * One attempt to store a message; rejects with what the driver throws. The driver's own `publish` copies headers and
 * options once more, which costs as much as the rest of a request.
 *
 * While a cluster still stores the first attempt, it answers a repeat as a duplicate with the sequence 0 (later servers
 * refuse it, code 10158). The outcome is as unknown as without an answer.
 */
export const storeOnce = async (nc: NatsConnection, message: MessageToStore, timeout: number): Promise<Stored> => {
  const envelope = headers()
  for (const [name, value] of Object.entries(message.headers ?? {})) envelope.set(name, value)
  envelope.set("Nats-Msg-Id", message.id)
  envelope.set("Nats-Expected-Stream", message.stream)
  const expected = message.expectedLastSubjectSequence
  if (expected !== undefined) envelope.set("Nats-Expected-Last-Subject-Sequence", `${expected}`)
  const answer = await nc.request(message.subject, message.body, { headers: envelope, timeout })
  const { duplicate = false, error, seq }: Acknowledgement = JSON.parse(text.decode(answer.data))
  if (error !== undefined) throw new JetStreamApiError(error)
  if (seq === 0) throw new errors.TimeoutError()
  return { sequence: seq, duplicate }
}

/**
 * Servers from 2.12 check the sequence before the id. So repeating a write whose acknowledgement was lost looks like a
 * conflict, but is none when the first message after the expected one is this one: others may have come after it. The
 * leader is asked, because a replica can lag.
 */
const ownOrConflict = Effect.fnUntraced(function* (nats: NatsShape, message: MessageToStore, conflict: WrongSequence) {
  const seq = (message.expectedLastSubjectSequence ?? 0) + 1
  const query: { readonly seq: number; readonly next_by_subj: string } = { seq, next_by_subj: message.subject }
  const winner = yield* attempt(`read message ${seq} of ${message.subject}`, () =>
    nats.jsm.streams.getMessage(message.stream, query)
  )
  if (winner?.header.get("Nats-Msg-Id") !== message.id) return yield* conflict
  return { sequence: winner.seq, duplicate: true } satisfies Stored
})

/**
 * Stores a message. Succeeds when the message is stored, by this call or an earlier one with the same id, and then the
 * message survives a crash of this process and of the broker. Fails with `WrongSequence` when another message of the
 * subject came first, `StreamFull` when there is no space, and `RequestTimedOut` when the outcome is still unknown after
 * `giveUpAfterMs`. Surprise: after `RequestTimedOut` the message may be stored; call again with the same id.
 *
 * @example publish({ stream, subject, id: commandId, body, expectedLastSubjectSequence: 0 })
 */
export const publish = Effect.fn("publish")(function* (message: MessageToStore, options: PublishOptions = {}) {
  const nats = yield* Nats
  const attemptFor = (timeoutMs: number): Effect.Effect<Stored, BrokerError> =>
    attempt(`publish to ${message.subject}`, () => storeOnce(nats.nc, message, timeoutMs)).pipe(
      Effect.catchTag("WrongSequence", (conflict) => ownOrConflict(nats, message, conflict))
    )
  const attempts = (timeoutMs: number, leftMs: number): Effect.Effect<Stored, BrokerError> =>
    Effect.gen(function* () {
      const beganMs = yield* Clock.currentTimeMillis
      const again = (error: BrokerError) =>
        Effect.gen(function* () {
          const spentMs = (yield* Clock.currentTimeMillis) - beganMs
          if (spentMs >= timeoutMs) {
            return leftMs > timeoutMs ? yield* attempts(2 * timeoutMs, leftMs - timeoutMs) : yield* error
          }
          const restMs = leftMs - spentMs - pauseMs
          return restMs > 0 ? yield* Effect.delay(attempts(timeoutMs, restMs), pauseMs) : yield* error
        })
      return yield* attemptFor(Math.min(timeoutMs, leftMs)).pipe(Effect.catchTag("RequestTimedOut", again))
    })
  return yield* attempts(options.attemptTimeoutMs ?? 300, options.giveUpAfterMs ?? 30_000)
})
