/** A broker that goes wrong where a test wants it to. */
import { Deferred, Effect, Layer } from "effect"
import type { BrokerShape, Message } from "../../src/broker/Broker.ts"
import { type ActorConfig, Broker } from "../../src/index.ts"

/** `part` on a broker of which some methods are replaced. */
export const misbehaving = <A, E>(
  part: Layer.Layer<A, E, Broker | ActorConfig>,
  how: (broker: BrokerShape) => Partial<BrokerShape>
) =>
  part.pipe(
    Layer.provide(
      Layer.effect(
        Broker,
        Effect.map(Broker, (broker) => Broker.of({ ...broker, ...how(broker) }))
      )
    )
  )

/** A place where a process stops forever, as if it were killed there. */
export const makeStop = Effect.map(Deferred.make<void>(), (there) => ({
  /** Waits until a process got there. */
  reached: Deferred.await(there),
  here: Deferred.succeed(there, undefined).pipe(Effect.andThen(Effect.never))
}))
export type Stop = Effect.Success<typeof makeStop>

/** Stops right before it publishes such messages. */
export const stopsBeforePublishing =
  (stop: Stop, what: (message: Message) => boolean) =>
  (broker: BrokerShape): Partial<BrokerShape> => ({
    publish: (messages) => (messages.some(what) ? stop.here : broker.publish(messages))
  })

/** Stops right before it appends. */
export const stopsBeforeAppending = (stop: Stop) => (): Partial<BrokerShape> => ({ append: () => stop.here })

/** Everything is done, but no acknowledgement arrives. */
export const losesAcknowledgements = (broker: BrokerShape): Partial<BrokerShape> => ({
  consume: (spec, take) => broker.consume(spec, (delivery) => take({ ...delivery, ack: () => undefined }))
})

/** A process that takes messages only while its gate is open; others get them meanwhile. */
export const makeGate = () => {
  const gate = { open: true }
  const how = (broker: BrokerShape): Partial<BrokerShape> => ({
    consume: (spec, take) => broker.consume(spec, (delivery) => (gate.open ? take(delivery) : delivery.nak(200)))
  })
  return { gate, how }
}
