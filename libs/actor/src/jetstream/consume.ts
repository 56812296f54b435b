/** Deliveries from named consumers: a flow that is requested ahead of time, or one by one. */
import type { Consumer, JsMsg } from "@nats-io/jetstream"
import { attempt } from "@reprise/nats"
import { Effect, FiberSet, Schedule } from "effect"
import type { BrokerShape, ConsumerSpec, Delivered } from "../broker/Broker.ts"
import { type Consumers, deliveredOf, restartPause } from "./consumers.ts"
import type { LargeBodies } from "./largeBodies.ts"

/** How many messages a process asks for ahead of time; more would let one replica take most of the messages. */
const ahead = 32
/** A pull without heartbeats for half of this is asked again. */
const pullMs = 5_000

/** Until the client gives up: after missed heartbeats, or when the consumer is gone. */
const consumeOnce = (consumer: Consumer, bodies: LargeBodies, take: (delivery: Delivered) => void) =>
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

export const makeConsume =
  (consumers: Consumers, bodies: LargeBodies): BrokerShape["consume"] =>
  (spec, take) =>
    Effect.gen(function* () {
      // A failure of this first look-up is the caller's; later ones are retried.
      yield* consumers.get(spec)
      yield* consumers.get(spec).pipe(
        Effect.flatMap((consumer) => consumeOnce(consumer, bodies, take)),
        Effect.catch((error) => Effect.logWarning(`${spec.durable} starts again: ${error.message}`)),
        Effect.andThen(Effect.sync(() => consumers.forget(spec))),
        Effect.repeat(Schedule.spaced(restartPause)),
        Effect.forkScoped({ startImmediately: true })
      )
    })

/** One message of one consumer, undefined when none came in time. */
const fetchOne = (consumer: Consumer) =>
  Effect.acquireUseRelease(
    attempt("pull", () => consumer.fetch({ max_messages: 1, expires: pullMs })),
    (messages) =>
      attempt("pull", async () => {
        for await (const message of messages) return message
        return undefined
      }),
    (messages) => Effect.sync(() => messages.stop())
  )

/** Who waits for a message, and at which consumers one was asked for. */
interface PullState {
  waiter: ((message: JsMsg) => void) | undefined
  readonly asking: Set<ConsumerSpec>
}

const give = (state: PullState, spec: ConsumerSpec, message: JsMsg | undefined) => {
  // First, as whoever takes the message may ask for the next one at once.
  state.asking.delete(spec)
  if (message === undefined) return
  const { waiter } = state
  if (waiter === undefined) return message.nak()
  state.waiter = undefined
  waiter(message)
}

/** Asks one consumer until it gives a message or nobody waits any more. */
const ask = (state: PullState, consumers: Consumers, spec: ConsumerSpec) => {
  const isAwaited = () => state.waiter !== undefined
  return consumers.get(spec).pipe(
    Effect.flatMap(fetchOne),
    Effect.tapError(() => Effect.sync(() => consumers.forget(spec))),
    Effect.retry({ while: isAwaited, schedule: Schedule.spaced(restartPause) }),
    Effect.catch(() => Effect.succeed(undefined)),
    Effect.repeat({ while: (message) => message === undefined && isAwaited() }),
    Effect.flatMap((message) => Effect.sync(() => give(state, spec, message)))
  )
}

/**
 * A pull that was sent cannot be taken back: a message that is on its way would be lost until its ack wait is over. So
 * each consumer has one pull open at most, and a message for which nobody waits any more is handed back.
 */
export const makePull =
  (consumers: Consumers, bodies: LargeBodies): BrokerShape["pull"] =>
  (specs) =>
    Effect.gen(function* () {
      yield* Effect.forEach(specs, consumers.get)
      const fibers = yield* FiberSet.make<void, never>()
      const run = yield* FiberSet.runtime(fibers)()
      const state: PullState = { waiter: undefined, asking: new Set() }
      return Effect.callback<Delivered>((resume) => {
        state.waiter = (message) => resume(Effect.succeed(deliveredOf(bodies, message)))
        for (const spec of specs) {
          if (state.asking.has(spec)) continue
          state.asking.add(spec)
          run(ask(state, consumers, spec))
        }
        return Effect.sync(() => {
          state.waiter = undefined
        })
      })
    })
