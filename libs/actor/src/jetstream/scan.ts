/** Everything that a stream keeps of some subjects, as it is now. */
import { type Consumer, DeliverPolicy, type JsMsg } from "@nats-io/jetstream"
import { attempt, RequestTimedOut, untilAnswered } from "@reprise/nats"
import { Effect } from "effect"
import type { Connection } from "./Connection.ts"
import { silenceMs } from "./silence.ts"

const batch = 500

/** Reads to the end. Each message says how many come after it, so it is noticed when they do not come. */
const readToEnd = Effect.fnUntraced(function* (operation: string, consumer: Consumer) {
  const found: Array<JsMsg> = []
  const { num_pending } = yield* attempt(operation, () => consumer.info(true))
  for (let pending = num_pending; pending > 0; ) {
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

/**
 * Fails when it gets no answer. The client's own lists of buckets and objects take a heartbeat for the end: when the last
 * messages were lost on the way, they leave them out and nobody is told.
 */
export const scan = ({ js }: Connection, operation: string, stream: string, filter: string) =>
  Effect.acquireUseRelease(
    attempt(operation, () => js.consumers.get(stream, { filter_subjects: filter, deliver_policy: DeliverPolicy.All })),
    (consumer) => readToEnd(operation, consumer),
    (consumer) => attempt(operation, () => consumer.delete()).pipe(Effect.timeoutOption("1 second"), Effect.ignore)
  ).pipe(untilAnswered)
