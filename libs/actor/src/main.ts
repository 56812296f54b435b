/**
 * One service as a program of its own, such as in a container: a broker that others run, the actor runtime over it,
 * settings from the environment (`REPRISE_NATS_URL`, `REPRISE_NATS_CREDENTIALS`, `REPRISE_NATS_NKEY_SEED_FILE`,
 * `REPRISE_NATS_CA_FILE`, `REPRISE_NATS_PREFIX`, `REPRISE_NATS_REPLICAS`, `REPRISE_HOST`, `REPRISE_HEALTH_ADDRESS`,
 * `REPRISE_LOG_LEVEL`), logs on standard error.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { type EnsureStreamsError, ensureStreams, Nats } from "@reprise/nats"
import { exportsMetrics, exportsTelemetry, type LogLevel, makePino, telemetry } from "@reprise/observability"
import { Host, Key, type ServiceName } from "@reprise/protocol"
import { Cause, Config, Effect, Layer, Option, Schedule, Schema, SubscriptionRef } from "effect"
import { ActorConfig } from "./ActorConfig.ts"
import type { Broker } from "./broker/Broker.ts"
import { type HostNeed, needMetLayer, watchNeed } from "./health/HostNeed.ts"
import { Readiness } from "./health/Readiness.ts"
import { HealthAddressUnusable, readHealthAddress, serveHealth } from "./health/serveHealth.ts"
import { JetStreamBroker } from "./jetstream/JetStreamBroker.ts"
import { type RemoteSettings, remoteOptions } from "./jetstream/remoteConnection.ts"
import { Messenger } from "./Messenger.ts"
import { lagMetrics } from "./metrics/lagMetrics.ts"
import { storedMetrics } from "./metrics/storedMetrics.ts"
import { warningOfWait } from "./waiting.ts"

export interface ServiceSettings extends RemoteSettings {
  readonly prefix: string
  /** Copies of each stream. Default: as many as it has, and 1 for a new one. */
  readonly replicas?: number
  /** Where this process runs: part of the subjects of its work. */
  readonly host: string
}

/** A connection to a broker that others run, for a service that may be started before it: it waits until one answers. */
const awaitedConnection = (settings: ServiceSettings) =>
  Layer.effect(
    Nats,
    Effect.gen(function* () {
      const readiness = yield* Readiness
      const nats = yield* Nats.make(remoteOptions(settings)).pipe(
        Effect.tapError(warningOfWait()),
        Effect.retry({ while: ({ _tag }) => _tag === "BrokerUnreachable", schedule: Schedule.spaced("1 second") })
      )
      yield* readiness.connected(nats)
      return nats
    })
  )

const mayNotMake = (error: EnsureStreamsError): boolean =>
  error._tag === "PermissionDenied" && /^\$JS\.API\.STREAM\.(CREATE|UPDATE)\./.test(error.subject)

/** Where services may not make streams, the operator does; a service may be started before. */
const streams = ({ prefix, replicas }: ServiceSettings) =>
  Layer.effectDiscard(
    Effect.suspend(() => {
      const warn = warningOfWait()
      return ensureStreams(prefix, replicas === undefined ? {} : { replicas }).pipe(
        Effect.tapError((error) =>
          mayNotMake(error) ? warn({ message: "Waiting for 'reprise streams', as the operator." }) : Effect.void
        ),
        Effect.retry({ while: mayNotMake, schedule: Schedule.spaced("5 seconds") }),
        Effect.andThen(Effect.flatMap(Readiness, ({ prepared }) => prepared))
      )
    })
  )

/** Everything that a service needs to run. Waits for the broker, and makes the streams that are missing. */
export const serviceSystem = (settings: ServiceSettings) =>
  Messenger.layer.pipe(
    Layer.provideMerge(JetStreamBroker.layer),
    Layer.provide(streams(settings)),
    Layer.provide(awaitedConnection(settings)),
    Layer.provideMerge(ActorConfig.layer({ prefix: settings.prefix, host: Host.make(settings.host) }))
  )

/** Made after the service, so it is the first to end: a service that stops is not ready. */
const announced = (name: string) =>
  Layer.effectDiscard(
    Effect.flatMap(Readiness, ({ ready, stopping, waitsFor }) =>
      Effect.acquireRelease(
        Effect.andThen(Effect.andThen(ready, waitsFor), (what) =>
          Effect.logInfo(what === undefined ? `${name} is ready` : `${name} waits for ${what}`)
        ),
        () => Effect.andThen(stopping, Effect.logInfo(`${name} stops`))
      )
    )
  )

export interface LaunchOptions extends ServiceSettings {
  /** Where it answers whether it lives and is ready, and with its metrics: `host:port`. Default: nowhere. */
  readonly healthAddress?: string
  /** What it needs on its host besides the broker. Default: nothing. */
  readonly need?: HostNeed
}

/** For the workers of the service, whether what it needs is there. */
const needed = ({ need }: LaunchOptions) =>
  need === undefined
    ? Layer.empty
    : Layer.unwrap(
        Effect.gen(function* () {
          const met = yield* watchNeed(need)
          yield* (yield* Readiness).needs(need.what, () => SubscriptionRef.getUnsafe(met))
          return needMetLayer(met)
        })
      )

const isMeasured = ({ healthAddress }: LaunchOptions) => healthAddress !== undefined || exportsTelemetry(process.env)

const answerHealth = Effect.fnUntraced(function* (address: string) {
  const parsed = readHealthAddress(address)
  if (Option.isNone(parsed)) {
    return yield* new HealthAddressUnusable({ address, reason: "that is not an address and a port" })
  }
  const port = yield* serveHealth(parsed.value, yield* Readiness)
  yield* Effect.logInfo(`Health is answered on port ${port}.`)
})

/**
 * Runs a service on a broker that others run, until it is interrupted. Then it takes no more work, finishes or hands back
 * what it has, and closes its connection. A broker that cannot be reached is waited for.
 */
export const launchService = <E, R>(service: Layer.Layer<never, E, R>, options: LaunchOptions) =>
  Effect.gen(function* () {
    if (options.healthAddress !== undefined) yield* answerHealth(options.healthAddress)
    return yield* Layer.launch(
      announced(options.name).pipe(
        Layer.provide(service),
        Layer.provide(needed(options)),
        Layer.provide(isMeasured(options) ? storedMetrics(options.name) : Layer.empty),
        Layer.provide(exportsMetrics(process.env) ? lagMetrics : Layer.empty),
        Layer.provide(serviceSystem(options))
      )
    )
  }).pipe(Effect.scoped, Effect.provide(Readiness.layer))

const level = Schema.Literals(["Debug", "Info", "Warn", "Error"])

const environment = (name: ServiceName) =>
  Effect.gen(function* () {
    const credentials = yield* Config.String("REPRISE_NATS_CREDENTIALS").pipe(Config.option)
    const seedFile = yield* Config.String("REPRISE_NATS_NKEY_SEED_FILE").pipe(Config.option)
    const caFile = yield* Config.String("REPRISE_NATS_CA_FILE").pipe(Config.option)
    const replicas = yield* Config.Int("REPRISE_NATS_REPLICAS").pipe(Config.option)
    const healthAddress = yield* Config.String("REPRISE_HEALTH_ADDRESS").pipe(Config.option)
    return {
      url: yield* Config.String("REPRISE_NATS_URL"),
      prefix: yield* Config.schema(Key, "REPRISE_NATS_PREFIX").pipe(Config.withDefault("reprise")),
      host: yield* Config.schema(Key, "REPRISE_HOST").pipe(Config.withDefault("local")),
      name,
      identity: name,
      ...Option.match(seedFile, { onNone: () => ({}), onSome: (path) => ({ seedFile: path }) }),
      ...Option.match(caFile, { onNone: () => ({}), onSome: (path) => ({ caFile: path }) }),
      ...Option.match(replicas, { onNone: () => ({}), onSome: (count) => ({ replicas: count }) }),
      ...Option.match(credentials, { onNone: () => ({}), onSome: (path) => ({ credentials: path }) }),
      ...Option.match(healthAddress, { onNone: () => ({}), onSome: (text) => ({ healthAddress: text }) })
    } satisfies LaunchOptions
  })

/**
 * The whole program of a container: runs one service until SIGTERM or SIGINT. When the service cannot run it logs why
 * and exits with a code that is not 0.
 *
 * @example
 * runService("gate", gateService)
 */
export const runService = <E>(
  name: ServiceName,
  service: Layer.Layer<never, E, Broker | ActorConfig | Messenger>
): void => {
  const program = Effect.flatMap(environment(name), (options) => launchService(service, options)).pipe(
    Effect.tapCause((cause) =>
      Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.logFatal(`${name} cannot run`, cause)
    )
  )
  const logged = Effect.gen(function* () {
    const wanted: LogLevel = yield* Config.schema(level, "REPRISE_LOG_LEVEL").pipe(Config.withDefault("Info" as const))
    return yield* program.pipe(Effect.provide(telemetry(`reprise-${name}`, makePino(2, wanted), wanted)))
  })
  NodeRuntime.runMain(logged, { disableErrorReporting: true })
}
