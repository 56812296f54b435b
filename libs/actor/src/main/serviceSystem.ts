/** What a service needs when it runs alone: a broker that others run, the actor runtime over it, and its settings. */
import { type Credentials, ensureStreams, Nats } from "@reprise/nats"
import { Host } from "@reprise/protocol"
import { Effect, Layer, Redacted } from "effect"
import { ActorConfig } from "../ActorConfig.ts"
import { JetStreamBroker } from "../jetstream/JetStreamBroker.ts"
import { Messenger } from "../Messenger.ts"

export interface ServiceSettings {
  /** `nats://host:port`; user and password may stand before the host. */
  readonly url: string
  /** Path of a `.creds` file. */
  readonly credentials?: string
  readonly prefix: string
  /** Where this process runs: part of the subjects of its work. */
  readonly host: string
  /** Shown in the server's list of connections. */
  readonly name: string
}

/** User and password of an address, and the address without them. */
const identity = (settings: ServiceSettings): { readonly url: string; readonly credentials: Credentials } => {
  if (settings.credentials !== undefined) {
    return { url: settings.url, credentials: { _tag: "CredsFile", path: settings.credentials } }
  }
  if (!URL.canParse(settings.url)) return { url: settings.url, credentials: { _tag: "Anonymous" } }
  const address = new URL(settings.url)
  if (address.username === "") return { url: settings.url, credentials: { _tag: "Anonymous" } }
  const user = decodeURIComponent(address.username)
  const password = Redacted.make(decodeURIComponent(address.password))
  address.username = ""
  address.password = ""
  return { url: address.toString().replace(/\/$/, ""), credentials: { _tag: "UserPassword", user, password } }
}

/** A connection to a broker that others run. */
export const remoteConnection = (settings: ServiceSettings) =>
  Nats.layer({ ...identity(settings), name: settings.name })

/** Everything below a service. Makes the streams when they are not there. */
export const serviceSystem = (settings: ServiceSettings) =>
  Messenger.layer.pipe(
    Layer.provideMerge(JetStreamBroker.layer),
    Layer.provide(Layer.effectDiscard(ensureStreams(settings.prefix))),
    Layer.provide(remoteConnection(settings)),
    Layer.provideMerge(ActorConfig.layer({ prefix: settings.prefix, host: Host.make(settings.host) }))
  )

/** Logs when the service is ready, and runs it until it is interrupted. */
export const launchService = <E, R>(service: Layer.Layer<never, E, R>, name: string) =>
  Layer.launch(Layer.effectDiscard(Effect.logInfo(`${name} is ready`)).pipe(Layer.provide(service)))
