/** The broker of a command: the one of this repository, started when no other process runs it, or a server that is named. */
import { attach, type Credentials, connectionTo, EmbeddedServer, ensureStreams, Nats } from "@reprise/nats"
import { Effect, Layer } from "effect"
import { type Config, get } from "../config/Config.ts"
import type { SystemOptions } from "./System.ts"

const credentials = (config: Config): Credentials => {
  const path = get<string | undefined>(config, "nats.credentials")
  return path === undefined ? { _tag: "Anonymous" } : { _tag: "CredsFile", path }
}

const embedded = Effect.fnUntraced(function* ({ config, project }: SystemOptions) {
  const port = get<number>(config, "nats.port")
  const quota = get<number | undefined>(config, "nats.storeMaxBytes")
  const server = yield* EmbeddedServer.make({
    directory: project.directory,
    ...(quota === undefined ? {} : { storageBytes: quota }),
    ...(port === 0 ? {} : { port })
  })
  const nats = yield* Nats.make(connectionTo(server.endpoint, { name: "reprise" }))
  yield* ensureStreams(get(config, "nats.prefix"), {
    storageBytes: server.storageBytes,
    resize: quota !== undefined
  }).pipe(Effect.provideService(Nats, nats))
  return nats
})

const attached = Effect.fnUntraced(function* ({ project }: SystemOptions) {
  return yield* Nats.make(connectionTo(yield* attach(project.directory), { name: "reprise-client" }))
})

/** The broker of this repository. */
export const localBroker = (options: SystemOptions) =>
  Layer.effect(Nats, embedded(options).pipe(Effect.catchTag("AlreadyOwned", () => attached(options))))

/** A server that others run; its streams are made when they are not there and this identity may. */
export const remoteBroker = ({ config }: SystemOptions, url: string) =>
  Nats.layer({ url, name: "reprise-client", credentials: credentials(config) })
