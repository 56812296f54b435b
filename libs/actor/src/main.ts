/**
 * One service as a program of its own, such as in a container: a broker that others run, the actor runtime over it,
 * settings from the environment (`REPRISE_NATS_URL`, `REPRISE_NATS_CREDENTIALS`, `REPRISE_NATS_PREFIX`, `REPRISE_HOST`,
 * `REPRISE_LOG_LEVEL`), logs on standard error.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { type Credentials, ensureStreams, Nats } from "@reprise/nats"
import { type LogLevel, layerPino, makePino } from "@reprise/observability"
import { Host, Key } from "@reprise/protocol"
import { Cause, Config, Effect, Layer, Option, Redacted, Schema } from "effect"
import { ActorConfig } from "./ActorConfig.ts"
import type { Broker } from "./broker/Broker.ts"
import { JetStreamBroker } from "./jetstream/JetStreamBroker.ts"
import { Messenger } from "./Messenger.ts"

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

/** Who connects: the credentials file, or user and password from the address; and the address without them. */
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

/** A connection to a broker that others run. Reconnects by itself. */
export const remoteConnection = (settings: ServiceSettings) =>
  Nats.layer({ ...identity(settings), name: settings.name })

/** Everything that a service needs to run. Makes the streams that are missing. */
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

const level = Schema.Literals(["Debug", "Info", "Warn", "Error"])

const environment = (name: string) =>
  Effect.gen(function* () {
    const credentials = yield* Config.String("REPRISE_NATS_CREDENTIALS").pipe(Config.option)
    return {
      url: yield* Config.String("REPRISE_NATS_URL"),
      prefix: yield* Config.schema(Key, "REPRISE_NATS_PREFIX").pipe(Config.withDefault("reprise")),
      host: yield* Config.schema(Key, "REPRISE_HOST").pipe(Config.withDefault("local")),
      name,
      ...Option.match(credentials, { onNone: () => ({}), onSome: (path) => ({ credentials: path }) })
    } satisfies ServiceSettings
  })

/**
 * The whole program of a container: runs one service until SIGTERM or SIGINT. When the service cannot run it logs why
 * and exits with a code that is not 0.
 *
 * @example
 * runService("gate", gateService)
 */
export const runService = <E>(name: string, service: Layer.Layer<never, E, Broker | ActorConfig | Messenger>): void => {
  const program = Effect.gen(function* () {
    const settings = yield* environment(name)
    return yield* launchService(service, name).pipe(Effect.provide(serviceSystem(settings)))
  }).pipe(
    Effect.tapCause((cause) =>
      Cause.hasInterruptsOnly(cause) ? Effect.logInfo(`${name} stops`) : Effect.logFatal(`${name} cannot run`, cause)
    )
  )
  const logged = Effect.gen(function* () {
    const wanted: LogLevel = yield* Config.schema(level, "REPRISE_LOG_LEVEL").pipe(Config.withDefault("Info" as const))
    return yield* program.pipe(Effect.provide(layerPino(makePino(2, wanted), wanted)))
  })
  NodeRuntime.runMain(logged, { disableErrorReporting: true })
}
