/** The brokers that the workspace service is tested on, and a way to start the service on them. */
import { ActorConfig, type Broker, JetStreamBroker, MemoryBroker, Messenger } from "@reprise/actor"
import { ensureStreams, Nats } from "@reprise/nats"
import { Host } from "@reprise/protocol"
import { localBroker, Broker as Server } from "@reprise/testing"
import { Effect, Layer, type Scope } from "effect"
import { layer as service } from "../../src/service.ts"

export const host = Host.make("h1")

const prefix = "t"
const config = ActorConfig.layer({ host, prefix })

export const inMemory = Messenger.layer.pipe(Layer.provideMerge(MemoryBroker.layer), Layer.provideMerge(config))

type World = Messenger | Broker | ActorConfig

/** A real nats-server on a free port, with its streams. */
export const onJetStream = Layer.unwrap(
  Effect.map(Server, ({ url }) =>
    Messenger.layer.pipe(
      Layer.provideMerge(JetStreamBroker.layer),
      Layer.provideMerge(Layer.effectDiscard(ensureStreams(prefix, { storageBytes: 256 * 1024 ** 2 }))),
      Layer.provideMerge(Nats.layer({ url, name: "workspace-test" })),
      Layer.provideMerge(config)
    )
  )
).pipe(Layer.provide(localBroker))

/** Runs the service until the scope closes, like a process that starts and dies. */
export const startService: Effect.Effect<void, unknown, World | Scope.Scope> = Effect.asVoid(
  Layer.build(Layer.fresh(service))
)
