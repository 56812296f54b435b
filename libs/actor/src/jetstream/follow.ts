/** Reading the event stream in order, from any place, for ever. */
import { type ConsumerMessages, DeliverPolicy, type OrderedConsumerOptions } from "@nats-io/jetstream"
import { attempt } from "@reprise/nats"
import { type Cause, Effect, Queue, Stream } from "effect"
import type { BrokerShape, EventsFrom, StoredMessage } from "../broker/Broker.ts"
import type { BrokerFault } from "../broker/faults.ts"
import { type Connection, can, fault } from "./Connection.ts"
import type { LargeBodies } from "./largeBodies.ts"
import { storedMessage } from "./store.ts"

/** Messages asked for at a time; the next are asked for when these are read, so a slow reader holds up only itself. */
const batch = 256
const restartPauseMs = 250

type Start = Pick<Partial<OrderedConsumerOptions>, "deliver_policy" | "opt_start_seq" | "opt_start_time">

const fromSequence = (sequence: number): Start => ({
  deliver_policy: DeliverPolicy.StartSequence,
  opt_start_seq: Math.max(1, sequence)
})

export const makeFollow = (connection: Connection, bodies: LargeBodies): BrokerShape["follow"] => {
  const { js, jsm, subjects } = connection
  const stream = subjects.streams.events

  const startOf = Effect.fnUntraced(function* (from: EventsFrom) {
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

  const stop = (messages: ConsumerMessages) => Effect.sync(() => messages.stop())

  return (wanted, from) =>
    Stream.callback<StoredMessage, BrokerFault>(
      Effect.fnUntraced(function* (queue: Queue.Queue<StoredMessage, BrokerFault | Cause.Done>) {
        let start = yield* startOf(from)
        // An old server gives the whole stream; the reader skips what it does not want.
        const narrow = wanted.length < 2 || (yield* can(connection, "filterSubjects"))
        const filter = narrow ? { filter_subjects: wanted.length === 1 ? wanted.join() : [...wanted] } : {}

        const offerAll = Effect.fnUntraced(function* (messages: ConsumerMessages) {
          const iterator = messages[Symbol.asyncIterator]()
          for (;;) {
            const { done, value } = yield* attempt("follow", () => iterator.next())
            if (done === true) return
            yield* Queue.offer(
              queue,
              storedMessage(bodies, value, (name) => value.headers?.get(name) ?? "")
            )
            start = fromSequence(value.seq + 1)
          }
        })

        const session = Effect.acquireUseRelease(
          attempt("follow", () => js.consumers.get(stream, { ...filter, ...start })),
          (consumer) =>
            Effect.acquireUseRelease(
              attempt("follow", () => consumer.fetch({ max_messages: batch })),
              offerAll,
              stop
            ).pipe(Effect.forever),
          (consumer) => attempt("follow", () => consumer.delete()).pipe(Effect.timeoutOption("1 second"), Effect.ignore)
        )

        return yield* session.pipe(
          Effect.catch((error) =>
            error._tag === "RequestTimedOut"
              ? Effect.logDebug(`reading events starts again: ${error.message}`)
              : Effect.logWarning(`reading events starts again: ${error.message}`)
          ),
          Effect.andThen(Effect.sleep(`${restartPauseMs} millis`)),
          Effect.forever
        )
      }),
      { bufferSize: batch, strategy: "suspend" }
    )
}
