/** Everything that a stream keeps of some subjects, as it is now. */
import { type Consumer, DeliverPolicy, type JsMsg } from "@nats-io/jetstream"
import { attempt, type BrokerError, RequestTimedOut, untilAnswered } from "@reprise/nats"
import { Effect } from "effect"
import type { Connection } from "./Connection.ts"
import { silenceMs } from "./silence.ts"

const batch = 500

/** Reads to the end. Each message says how many come after it, so it is noticed when they do not come. */
const readToEnd = Effect.fnUntraced(function* (operation: string, consumer: Consumer, count: number) {
  const found: Array<JsMsg> = []
  for (let pending = count; pending > 0; ) {
    const before = found.length
    yield* attempt(operation, async () => {
      for await (const message of await consumer.fetch({ max_messages: batch, expires: silenceMs })) {
        found.push(message)
        pending = message.info.pending
        if (pending === 0) break
      }
    })
    if (pending > 0 && found.length < before + batch) return yield* new RequestTimedOut({ operation })
  }
  return found
})

export interface Selection {
  readonly stream: string
  readonly filter: string
  /** The first sequence; absent: all that the stream keeps. */
  readonly from?: number
}

/** The messages of a selection. */
export interface Kept {
  /** How many messages there were when it was asked. */
  readonly count: number
  /** All of them, and those that were stored since. */
  readonly read: Effect.Effect<ReadonlyArray<JsMsg>, BrokerError>
}

/** Gives what a stream keeps to `use`, which may read it or not. */
export const withKept = <A, E extends { readonly _tag: string }>(
  { js }: Connection,
  operation: string,
  { filter, from, stream }: Selection,
  use: (kept: Kept) => Effect.Effect<A, E>
) => {
  const start =
    from === undefined
      ? { deliver_policy: DeliverPolicy.All }
      : { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: from }
  return Effect.acquireUseRelease(
    attempt(operation, () => js.consumers.get(stream, { filter_subjects: filter, ...start })),
    (consumer) =>
      Effect.flatMap(
        attempt(operation, () => consumer.info(true)),
        ({ num_pending: count }) => use({ count, read: readToEnd(operation, consumer, count) })
      ),
    (consumer) => attempt(operation, () => consumer.delete()).pipe(Effect.timeoutOption("1 second"), Effect.ignore)
  ).pipe(untilAnswered)
}

/**
 * Fails when it gets no answer. The client's own lists of buckets and objects take a heartbeat for the end: when the last
 * messages were lost on the way, they leave them out and nobody is told.
 */
export const scan = (connection: Connection, operation: string, selection: Selection) =>
  withKept(connection, operation, selection, ({ read }) => read)
