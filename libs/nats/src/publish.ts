/** One stored message, once: short attempts with the same id until the outcome is known. */
import { headers } from "@nats-io/transport-node"
import { Effect, Schedule } from "effect"
import { attempt, type BrokerError, RequestTimedOut, type WrongSequence } from "./BrokerError.ts"
import { Nats, type NatsShape } from "./Nats.ts"

export interface StoredMessage {
  readonly stream: string
  readonly subject: string
  /** The stream drops a second message with this id inside its duplicate window. */
  readonly id: string
  readonly body: string | Uint8Array
  readonly headers?: Readonly<Record<string, string>>
  /** Sequence of the last message of this subject, 0 for none: the write is refused if another came first. */
  readonly expectedLastSubjectSequence?: number
}

export interface PublishOptions {
  /** An attempt without an answer for this long is repeated: a lost connection does not fail what was in flight. */
  readonly attemptTimeoutMs?: number
  readonly giveUpAfterMs?: number
}

export interface Stored {
  readonly sequence: number
  /** An earlier attempt, or an earlier process, had already stored it. */
  readonly duplicate: boolean
}

const write = (nats: NatsShape, message: StoredMessage, timeout: number) => {
  const envelope = headers()
  for (const [name, value] of Object.entries(message.headers ?? {})) envelope.set(name, value)
  const expected = message.expectedLastSubjectSequence
  return attempt(`publish to ${message.subject}`, () =>
    nats.js.publish(message.subject, message.body, {
      msgID: message.id,
      headers: envelope,
      timeout,
      expect: {
        streamName: message.stream,
        ...(expected === undefined ? {} : { lastSubjectSequence: expected })
      }
    })
  ).pipe(Effect.map((stored): Stored => ({ sequence: stored.seq, duplicate: stored.duplicate })))
}

/**
 * Servers from 2.12 check the sequence before the id. So a repeat of a write whose acknowledgement was lost looks like
 * a conflict; it is none if the last message of the subject is this one. Asked of the leader, as a replica may lag.
 */
const wasItMine = Effect.fnUntraced(function* (nats: NatsShape, message: StoredMessage, conflict: WrongSequence) {
  const last = yield* attempt(`read the last message of ${message.subject}`, () =>
    nats.jsm.streams.getMessage(message.stream, { last_by_subj: message.subject })
  )
  if (last?.header.get("Nats-Msg-Id") !== message.id) return yield* conflict
  return { sequence: last.seq, duplicate: true } satisfies Stored
})

/**
 * Stores a message. Succeeds when it is stored, now or before. Fails with `WrongSequence` when another message of this
 * subject came first, `StreamFull` when there is no space, `RequestTimedOut` when the outcome stayed unknown.
 */
export const publish = Effect.fn("publish")(function* (message: StoredMessage, options: PublishOptions = {}) {
  const nats = yield* Nats
  const once: Effect.Effect<Stored, BrokerError> = write(nats, message, options.attemptTimeoutMs ?? 300).pipe(
    Effect.catchTag("WrongSequence", (conflict) => wasItMine(nats, message, conflict))
  )
  return yield* once.pipe(
    Effect.retry({
      while: (error) => error instanceof RequestTimedOut,
      schedule: Schedule.spaced("50 millis").pipe(
        Schedule.upTo({ duration: `${options.giveUpAfterMs ?? 10_000} millis` })
      )
    })
  )
})
