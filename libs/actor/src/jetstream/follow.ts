/** Reading the event stream in order, from any place, forever. */
import { type Consumer, type ConsumerMessages, DeliverPolicy, type OrderedConsumerOptions } from "@nats-io/jetstream"
import { attempt, RequestTimedOut } from "@reprise/nats"
import { type Cause, Duration, Effect, Queue, Schedule, Stream } from "effect"
import type { BrokerShape, EventsFrom, StoredMessage } from "../broker/Broker.ts"
import type { BrokerFault } from "../broker/faults.ts"
import { type Connection, fault } from "./Connection.ts"
import type { LargeBodies } from "./largeBodies.ts"
import { storedMessage } from "./read.ts"
import { silenceMs } from "./silence.ts"

/** Messages asked for at a time; the next are asked for when these are read, so a slow reader holds up only itself. */
const batch = 256
const restartPause = Duration.millis(250)

type Start = Pick<Partial<OrderedConsumerOptions>, "deliver_policy" | "opt_start_seq" | "opt_start_time">

const fromSequence = (sequence: number): Start => ({
  deliver_policy: DeliverPolicy.StartSequence,
  opt_start_seq: Math.max(1, sequence)
})

const startOf = Effect.fnUntraced(function* ({ jsm }: Connection, stream: string, from: EventsFrom) {
  if (from === "beginning") return fromSequence(1)
  if (typeof from === "object") {
    return "sequence" in from
      ? fromSequence(from.sequence)
      : { deliver_policy: DeliverPolicy.StartTime, opt_start_time: from.since }
  }
  // A place, not "new": a consumer that has to be made again must not skip what came meanwhile.
  const info = yield* attempt(`read ${stream}`, () => jsm.streams.info(stream)).pipe(
    Effect.mapError(fault(`read ${stream}`))
  )
  return fromSequence(info.state.last_seq + 1)
})

/** A reader of the event stream: how far it is, and where the messages go. */
interface Follower {
  readonly connection: Connection
  readonly bodies: LargeBodies
  readonly stream: string
  /** The pattern that the server is asked for, and whether a message of it is wanted. */
  readonly filter: string
  readonly isWanted: (subject: string) => boolean
  /** Where a new session begins: after the last message that was read. */
  start: Start
  /** How many messages the consumer of this session has sent, as the last one that was read says. */
  read: number
  readonly queue: Queue.Queue<StoredMessage, BrokerFault | Cause.Done>
}

/** Reads one batch to its end. */
const readBatch = (follower: Follower, messages: ConsumerMessages) => {
  const iterator = messages[Symbol.asyncIterator]()
  const readNext = Effect.gen(function* () {
    const { done, value } = yield* attempt("follow", () => iterator.next())
    if (done === true) return false
    if (follower.isWanted(value.subject)) {
      const stored = storedMessage(follower.bodies, value, (name) => value.headers?.get(name) ?? "")
      yield* Queue.offer(follower.queue, stored)
    }
    follower.start = fromSequence(value.seq + 1)
    follower.read = value.info.deliverySequence
    return true
  })
  return Effect.repeat(readNext, { while: (isMore) => isMore })
}

/**
 * Reads what comes in a while. An event that was lost on the way is noticed: the server has sent one that was not read. A
 * later event would show it as well, but the lost one may be the last for long.
 */
const fetchBatch = Effect.fnUntraced(function* (follower: Follower, consumer: Consumer) {
  yield* Effect.acquireUseRelease(
    attempt("follow", () => consumer.fetch({ max_messages: batch, expires: silenceMs })),
    (messages) => readBatch(follower, messages),
    (messages) => Effect.sync(() => messages.stop())
  )
  const { delivered } = yield* attempt("follow", () => consumer.info())
  if (delivered.consumer_seq > follower.read) return yield* new RequestTimedOut({ operation: "follow" })
})

/** Reads from the follower's start, by a consumer of its own, until something fails. */
const readSession = (follower: Follower) => {
  const { connection, filter, start, stream } = follower
  follower.read = 0
  return Effect.acquireUseRelease(
    attempt("follow", () => connection.js.consumers.get(stream, { filter_subjects: filter, ...start })),
    (consumer) => Effect.forever(fetchBatch(follower, consumer)),
    (consumer) => attempt("follow", () => consumer.delete()).pipe(Effect.timeoutOption("1 second"), Effect.ignore)
  )
}

/**
 * The narrowest single pattern for all of these, which have equally many tokens. The server is never asked for several:
 * a request for that does not name its consumer, and whoever may send it may take over another's.
 */
export const commonPattern = (patterns: ReadonlyArray<string>): string => {
  const [first = [], ...others] = patterns.map((pattern) => pattern.split("."))
  return first.map((token, n) => (others.every((other) => other[n] === token) ? token : "*")).join(".")
}

const matcherOf = (patterns: ReadonlyArray<string>) => {
  if (patterns.length === 1) return () => true
  const alternatives = patterns.map((one) => one.replaceAll(/[.$]/g, "\\$&").replaceAll("*", "[^.]+"))
  const wanted = new RegExp(`^(?:${alternatives.join("|")})$`)
  return (subject: string) => wanted.test(subject)
}

export const makeFollow = (connection: Connection, bodies: LargeBodies): BrokerShape["follow"] => {
  const stream = connection.subjects.streams.events
  return (patterns, from) =>
    Stream.callback<StoredMessage, BrokerFault>(
      Effect.fnUntraced(function* (queue: Follower["queue"]) {
        const start = yield* startOf(connection, stream, from)
        const [filter, isWanted] = [commonPattern(patterns), matcherOf(patterns)]
        const follower: Follower = { connection, bodies, stream, filter, isWanted, start, read: 0, queue }
        return yield* Effect.suspend(() => readSession(follower)).pipe(
          Effect.catch((error) =>
            error._tag === "RequestTimedOut"
              ? Effect.logDebug(`reading events starts again: ${error.message}`)
              : Effect.logWarning(`reading events starts again: ${error.message}`)
          ),
          Effect.repeat(Schedule.spaced(restartPause))
        )
      }),
      { bufferSize: batch, strategy: "suspend" }
    )
}
