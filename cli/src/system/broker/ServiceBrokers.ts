/**
 * The services of this process and their broker. Each has a connection of its own, on which it is itself, so that what it
 * may not do is refused here as on a cluster.
 */
import { ActorConfig, Broker, type BrokerFull, type BrokerShape, JetStreamBroker, Messenger } from "@reprise/actor"
import { Nats, type NatsShape } from "@reprise/nats"
import type { ServiceName } from "@reprise/protocol"
import { Context, Deferred, Effect, Layer, type Scope } from "effect"

/** Connects a service of this process, until the scope closes. */
export class ServiceConnections extends Context.Service<
  ServiceConnections,
  { readonly connect: (service: ServiceName) => Effect.Effect<NatsShape, unknown, Scope.Scope> }
>()("cli/ServiceConnections") {}

/** The broker as each service of this process sees it. */
export class ServiceBrokers extends Context.Service<
  ServiceBrokers,
  {
    readonly of: (service: ServiceName) => Effect.Effect<BrokerShape, unknown, Scope.Scope>
    /** Completes once a message of one of them could not be stored because there was no space. */
    readonly full: Effect.Effect<BrokerFull>
  }
>()("cli/ServiceBrokers") {
  static readonly layer = Layer.effect(
    ServiceBrokers,
    Effect.gen(function* () {
      const { connect } = yield* ServiceConnections
      const config = Layer.succeed(ActorConfig, yield* ActorConfig)
      const full = yield* Deferred.make<BrokerFull>()
      return {
        of: Effect.fnUntraced(function* (service) {
          const connected = Layer.provide(JetStreamBroker.layer, [Layer.effect(Nats, connect(service)), config])
          const broker = Context.get(yield* Layer.build(Layer.fresh(connected)), Broker)
          yield* Effect.forkScoped(Effect.flatMap(broker.full, (error) => Deferred.succeed(full, error)))
          return broker
        }),
        full: Deferred.await(full)
      }
    })
  )

  /** All of them use the broker of the command. */
  static readonly shared = Layer.effect(
    ServiceBrokers,
    Effect.map(Broker, (broker) => ({ of: () => Effect.succeed(broker), full: Effect.never }))
  )
}

/** A service as itself. Parts that services have in common, such as the messenger, are made for each of them. */
export const asItself = <E, R>(service: ServiceName, layer: Layer.Layer<never, E, R>) =>
  Layer.fresh(Layer.provide(layer, Messenger.layer)).pipe(
    Layer.provide(
      Layer.effect(
        Broker,
        ServiceBrokers.use(({ of }) => of(service))
      )
    )
  )
