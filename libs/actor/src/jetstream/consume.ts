/** Deliveries from static named consumers. */
import type { Consumer, JsMsg } from "@nats-io/jetstream"
import { attempt, ensureConsumer, Nats } from "@reprise/nats"
import { Effect, FiberSet } from "effect"
import type { BrokerShape, ConsumerSpec, Delivered } from "../broker/Broker.ts"
import { type Connection, can, fault } from "./Connection.ts"
import type { LargeBodies } from "./largeBodies.ts"
import { storedMessage } from "./store.ts"

/** How many messages a process asks for ahead of time; more would let one replica hoard. */
const ahead = 32
/** A pull without heartbeats for half of this is asked again. */
const pullMs = 5_000
const restartPauseMs = 250

/** Settling is fire and forget: what does not arrive leads to another delivery, which the receipts recognise. */
const quietly = (settle: () => void) => () => {
  try {
    settle()
  } catch {
    // The connection is closed for good: the broker delivers again to whoever comes next.
  }
}

const deliveredOf = (bodies: LargeBodies, message: JsMsg): Delivered => ({
  ...storedMessage(bodies, message, (name) => message.headers?.get(name) ?? ""),
  deliveryCount: message.info.deliveryCount,
  ack: quietly(() => message.ack()),
  nak: (delayMs) => quietly(() => message.nak(delayMs))(),
  working: quietly(() => message.working())
})

export const makeConsume = (connection: Connection, bodies: LargeBodies): Pick<BrokerShape, "consume" | "pull"> => {
  const { js, nats, subjects } = connection
  const consumers = new Map<string, Consumer>()

  const consumerOf = Effect.fnUntraced(function* (spec: ConsumerSpec) {
    const known = consumers.get(spec.durable)
    if (known !== undefined) return known
    const stream = subjects.streams[spec.stream]
    // An old server gets the whole stream; the reader skips what it does not want.
    const narrow = spec.filters.length < 2 || (yield* can(connection, "filterSubjects"))
    const info = yield* ensureConsumer({
      stream,
      durable: spec.durable,
      filterSubjects: narrow ? spec.filters : [],
      ackWaitMs: spec.ackWaitMs,
      maxDeliver: -1,
      maxAckPending: spec.maxInFlight
    }).pipe(Effect.provideService(Nats, nats), Effect.mapError(fault(`make the consumer ${spec.durable}`)))
    const consumer = js.consumers.getConsumerFromInfo(info)
    consumers.set(spec.durable, consumer)
    return consumer
  })

  /** The consumer may be gone: an administrator removed it, or the server came back without it. */
  const startAgain = (spec: ConsumerSpec) =>
    Effect.sync(() => consumers.delete(spec.durable)).pipe(
      Effect.andThen(Effect.sleep(`${restartPauseMs} millis`)),
      Effect.as(undefined)
    )

  /** Until the client gives the consumption up, as it does after missed heartbeats or when the consumer is gone. */
  const consumeOnce = (consumer: Consumer, take: (delivery: Delivered) => void) =>
    Effect.acquireUseRelease(
      attempt("consume", () =>
        consumer.consume({
          max_messages: ahead,
          expires: pullMs,
          abort_on_missing_resource: true,
          callback: (message) => take(deliveredOf(bodies, message))
        })
      ),
      (messages) =>
        attempt("consume", async () => {
          const ended = await messages.closed()
          if (ended instanceof Error) throw ended
        }),
      (messages) => Effect.sync(() => messages.stop())
    )

  const consume: BrokerShape["consume"] = Effect.fnUntraced(function* (spec, take) {
    yield* consumerOf(spec)
    yield* consumerOf(spec).pipe(
      Effect.flatMap((consumer) => consumeOnce(consumer, take)),
      Effect.catch((error) => Effect.logWarning(`${spec.durable} starts again: ${error.message}`)),
      Effect.andThen(startAgain(spec)),
      Effect.forever,
      Effect.forkScoped({ startImmediately: true })
    )
  })

  /** One message of one consumer, undefined when none came in time. */
  const pullOnce = (consumer: Consumer) =>
    Effect.acquireUseRelease(
      attempt("pull", () => consumer.fetch({ max_messages: 1 })),
      (messages) =>
        attempt("pull", async () => {
          for await (const message of messages) return message
          return undefined
        }),
      (messages) => Effect.sync(() => messages.stop())
    )

  /**
   * A pull that was sent cannot be taken back: a message that is on its way would be lost until its ack wait is over.
   * So each consumer has one pull open at most, and a message that nobody waits for any more is handed back.
   */
  const pull: BrokerShape["pull"] = Effect.fnUntraced(function* (specs) {
    yield* Effect.forEach(specs, consumerOf)
    const fibers = yield* FiberSet.make<void, never>()
    const run = yield* FiberSet.runtime(fibers)()
    const asking = new Set<ConsumerSpec>()
    let waiter: ((message: JsMsg) => void) | undefined

    const give = (spec: ConsumerSpec, message: JsMsg | undefined) => {
      // First, as whoever takes the message may ask for the next one at once.
      asking.delete(spec)
      if (message === undefined) return
      if (waiter === undefined) return message.nak()
      const taker = waiter
      waiter = undefined
      taker(message)
    }

    const ask = (spec: ConsumerSpec): Effect.Effect<void> =>
      consumerOf(spec).pipe(
        Effect.flatMap(pullOnce),
        Effect.catch(() => startAgain(spec)),
        Effect.flatMap((message) =>
          message === undefined && waiter !== undefined ? ask(spec) : Effect.sync(() => give(spec, message))
        )
      )

    return Effect.callback<Delivered>((resume) => {
      waiter = (message) => resume(Effect.succeed(deliveredOf(bodies, message)))
      for (const spec of specs) {
        if (asking.has(spec)) continue
        asking.add(spec)
        run(ask(spec))
      }
      return Effect.sync(() => {
        waiter = undefined
      })
    })
  })

  return { consume, pull }
}
