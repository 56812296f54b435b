/** The broker port on a real server. Without vitest, since programs of their own use it too. */
import { ensureStreams, Nats } from "@reprise/nats"
import { Layer } from "effect"
import { ActorConfig, type ActorSettings, JetStreamBroker } from "../../src/index.ts"

export const testSettings: Partial<ActorSettings> = { prefix: "t" }

/** How a process reaches its server. */
export interface ConnectionSettings {
  readonly name?: string
  readonly requestTimeoutMs?: number
  readonly storageBytes?: number
}

/** The broker port over a connection of its own to a server, with the streams there. */
export const jetStream = (url: string, settings: Partial<ActorSettings> = {}, connection: ConnectionSettings = {}) => {
  const { name = "test", requestTimeoutMs, storageBytes = 256 * 1024 ** 2 } = connection
  const limits = requestTimeoutMs === undefined ? {} : { requestTimeoutMs }
  return JetStreamBroker.layer.pipe(
    Layer.provideMerge(Layer.effectDiscard(ensureStreams("t", { storageBytes }))),
    Layer.provideMerge(Nats.layer({ url, name, reconnectWaitMs: 50, ...limits })),
    Layer.provideMerge(ActorConfig.layer({ ...testSettings, ...settings }))
  )
}
