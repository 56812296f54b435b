/** The nats-server of Reprise's actor runtime, with its streams. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { ActorConfig, JetStreamBroker, Messenger } from "@reprise/actor"
import { ensureStreams, formatVersion, locateServer, Nats, supports } from "@reprise/nats"
import { Effect, Layer } from "effect"
import { freePort, programServer, type Server } from "./Peer.ts"

export const prefix = "bench"

/** As one of the services, or as whoever asks them. */
export const connected = (url: string, name: string) =>
  Messenger.layer.pipe(
    Layer.provideMerge(JetStreamBroker.layer),
    Layer.provideMerge(Nats.layer({ url, name })),
    Layer.provideMerge(ActorConfig.layer({ prefix }))
  )

const server = Effect.runSync(Effect.cached(locateServer()))

export const describeServer = async (): Promise<string> => {
  const { version } = await Effect.runPromise(server)
  const sync = supports(version, "syncAlways") ? "sync_interval always" : "no fsync before an acknowledgement"
  return `nats-server ${formatVersion(version)}; ${sync}`
}

export const startNatsServer = async (directory: string): Promise<Server> => {
  const { path, version } = await Effect.runPromise(server)
  const port = await freePort()
  const config = join(directory, "server.conf")
  const sync = supports(version, "syncAlways") ? "sync_interval: always" : ""
  writeFileSync(
    config,
    `host: 127.0.0.1\nport: ${port}\njetstream { store_dir: "${join(directory, "data")}", max_file_store: 4GB, ${sync} }\n`
  )
  const url = `nats://127.0.0.1:${port}`
  const started = await programServer(() => [path, ["-c", config]], [port], { url }, { stop: "SIGTERM" })
  await Effect.runPromise(
    ensureStreams(prefix, { storageBytes: 2 * 1024 ** 3 }).pipe(
      Effect.provide(Nats.layer({ url, name: "operator" })),
      Effect.retry({ times: 20 })
    )
  )
  return started
}
