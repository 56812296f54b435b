/** The broker port on a real server. Without vitest, since programs of their own use it too. */
import { ensureStreams, Nats } from "@reprise/nats"
import { Layer } from "effect"
import { ActorConfig, type ActorSettings, JetStreamBroker } from "../../src/index.ts"

export const testSettings: Partial<ActorSettings> = { prefix: "t" }

/** The broker port over a connection of its own to a server, with the streams there. */
export const jetStream = (url: string, settings: Partial<ActorSettings> = {}, storageBytes = 256 * 1024 ** 2) =>
  JetStreamBroker.layer.pipe(
    Layer.provideMerge(Layer.effectDiscard(ensureStreams("t", { storageBytes }))),
    Layer.provideMerge(Nats.layer({ url, name: "test", reconnectWaitMs: 50 })),
    Layer.provideMerge(ActorConfig.layer({ ...testSettings, ...settings }))
  )
