/**
 * The main program of a container: one service, settings from the environment (`REPRISE_NATS_URL`,
 * `REPRISE_NATS_CREDENTIALS`, `REPRISE_NATS_PREFIX`, `REPRISE_HOST`, `REPRISE_LOG_LEVEL`), logs on standard error.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { type LogLevel, layerPino, makePino } from "@reprise/observability"
import { Key } from "@reprise/protocol"
import { Cause, Config, Effect, type Layer, Option, Schema } from "effect"
import type { ActorConfig } from "../ActorConfig.ts"
import type { Broker } from "../broker/Broker.ts"
import type { Messenger } from "../Messenger.ts"
import { launchService, type ServiceSettings, serviceSystem } from "./serviceSystem.ts"

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

/** Ends with exit code 3 and a line in the log when the service cannot run. */
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
