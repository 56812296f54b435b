/** The named consumers that this process uses, and their messages as deliveries. */
import type { Consumer, JsMsg } from "@nats-io/jetstream"
import { ensureConsumer, Nats } from "@reprise/nats"
import { Duration, Effect } from "effect"
import type { ConsumerSpec, Delivered } from "../broker/Broker.ts"
import type { BrokerFault } from "../broker/faults.ts"
import { type Connection, can, fault } from "./Connection.ts"
import type { LargeBodies } from "./largeBodies.ts"
import { storedMessage } from "./read.ts"

/** Pause before a consumer that failed is looked up again. */
export const restartPause = Duration.millis(250)

export interface Consumers {
  /** The consumer; it is made on the server if it does not exist. */
  readonly get: (spec: ConsumerSpec) => Effect.Effect<Consumer, BrokerFault>
  /** The next `get` asks the server again: an administrator may have removed the consumer, or the server lost it. */
  readonly forget: (spec: ConsumerSpec) => void
}

export const makeConsumers = (connection: Connection): Consumers => {
  const { js, nats, subjects } = connection
  const consumers = new Map<string, Consumer>()
  return {
    get: Effect.fnUntraced(function* (spec) {
      const known = consumers.get(spec.durable)
      if (known !== undefined) return known
      // An old server gives every message of the stream; the reader leaves out what it does not want.
      const narrow = spec.filters.length < 2 || (yield* can(connection, "filterSubjects"))
      const info = yield* ensureConsumer({
        stream: subjects.streams[spec.stream],
        durable: spec.durable,
        filterSubjects: narrow ? spec.filters : [],
        ackWaitMs: spec.ackWaitMs,
        maxDeliver: -1,
        maxAckPending: spec.maxInFlight
      }).pipe(Effect.provideService(Nats, nats), Effect.mapError(fault(`make the consumer ${spec.durable}`)))
      const consumer = js.consumers.getConsumerFromInfo(info)
      consumers.set(spec.durable, consumer)
      return consumer
    }),
    forget: ({ durable }) => void consumers.delete(durable)
  }
}

/** A lost answer leads to another delivery, which the receipts recognise: so none of them waits or fails. */
const fireAndForget = (answer: () => void) => {
  try {
    answer()
  } catch {
    // The connection is closed for good: the broker delivers again to whoever comes next.
  }
}

export const deliveredOf = (bodies: LargeBodies, message: JsMsg): Delivered => ({
  ...storedMessage(bodies, message, (name) => message.headers?.get(name) ?? ""),
  deliveryCount: message.info.deliveryCount,
  ack: () => fireAndForget(() => message.ack()),
  nak: (delayMs) => fireAndForget(() => message.nak(delayMs)),
  working: () => fireAndForget(() => message.working())
})
