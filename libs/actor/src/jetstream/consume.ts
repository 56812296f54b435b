/** Deliveries from named consumers: a flow that is requested ahead of time, or as many as there is room for. */
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

/** Takes so many messages of one consumer, or those that come in time. */
const fetchSome = (consumer: Consumer, count: number, take: (message: JsMsg) => void) =>
  Effect.acquireUseRelease(
    attempt("pull", () => consumer.fetch({ max_messages: count, expires: pullMs })),
    (messages) =>
      attempt("pull", async () => {
        for await (const message of messages) take(message)
      }),
    (messages) => Effect.sync(() => messages.stop())
  )

/**
 * A pull that was sent cannot be taken back: a message that is on its way would be lost until its ack wait is over. So
 * each consumer has one pull open at most, and a message for which there is no room any more is handed back.
 */
export const makePull =
  (consumers: Consumers, bodies: LargeBodies): BrokerShape["pull"] =>
  (specs, room, take) =>
    Effect.gen(function* () {
      yield* Effect.forEach(specs, consumers.get)
      const run = yield* FiberSet.makeRuntime()
      const asking = new Set<ConsumerSpec>()

      const askOnce = (spec: ConsumerSpec) =>
        consumers.get(spec).pipe(
          Effect.flatMap((consumer) =>
            fetchSome(consumer, Math.max(1, room(spec)), (message) =>
              room(spec) > 0 ? take(deliveredOf(bodies, message)) : message.nak()
            )
          ),
          Effect.catch(() =>
            Effect.andThen(
              Effect.sync(() => consumers.forget(spec)),
              Effect.sleep(restartPause)
            )
          )
        )
      /** Nothing comes between the look and the end: whoever has more room afterwards asks again. */
      const goesOn = (spec: ConsumerSpec) => Effect.sync(() => room(spec) > 0 || !asking.delete(spec))

      const ask = (spec: ConsumerSpec) => {
        if (asking.has(spec) || room(spec) === 0) return
        asking.add(spec)
        run(Effect.andThen(askOnce(spec), goesOn(spec)).pipe(Effect.repeat({ while: (isMore) => isMore })))
      }
      const askAll = () => {
        for (const spec of specs) ask(spec)
      }
      askAll()
      return askAll
    })
