/** A broker that goes wrong where a test wants it to. */
import { Effect, Layer } from "effect"
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

/** The process stops for ever right before it publishes such messages, as if it were killed there. */
export const diesBeforePublishing =
  (what: (message: Message) => boolean) =>
  (broker: BrokerShape): Partial<BrokerShape> => ({
    publish: (messages) => (messages.some(what) ? Effect.never : broker.publish(messages))
  })

/** The process stops for ever right before it appends. */
export const diesBeforeAppending = (): Partial<BrokerShape> => ({ append: () => Effect.never })

/** Everything is done, but no acknowledgement arrives. */
export const losesAcknowledgements = (broker: BrokerShape): Partial<BrokerShape> => ({
  consume: (spec, take) => broker.consume(spec, (delivery) => take({ ...delivery, ack: () => undefined }))
})
