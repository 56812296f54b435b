/** Runs what serves in a container, until SIGTERM: with its health, its log, and what it measures. */

import { type LaunchOptions, launchService } from "@reprise/actor/main"
import { makePino, telemetry } from "@reprise/observability"
import { defined } from "@reprise/protocol"
import { Effect, type Layer } from "effect"
import type { Settings } from "../../config/settingsTable.ts"
import { hostName } from "../../system/names.ts"
import { missing } from "../../terminal/CliFailure.ts"
import { exitCodes } from "../../terminal/exitCodes.ts"

/** Ending by SIGTERM is how a service is meant to end: everything is finished or handed back by then. */
const endsCleanly = Effect.onInterrupt(() =>
  Effect.sync(() => {
    process.exitCode = exitCodes.done
  })
)

export const launched = Effect.fn("launched")(function* <E extends { readonly message: string }, R>(
  layer: Layer.Layer<never, E, R>,
  options: Omit<LaunchOptions, "host" | "replicas" | "healthAddress">,
  { log, nats }: Settings
) {
  const healthAddress = process.env["REPRISE_HEALTH_ADDRESS"] ?? ""
  return yield* launchService(layer, {
    ...options,
    host: yield* hostName,
    ...defined({ replicas: nats.replicas }),
    ...(healthAddress === "" ? {} : { healthAddress })
  }).pipe(
    endsCleanly,
    Effect.mapError((error) => missing("service", error.message, "'reprise doctor' checks what is needed.", error)),
    Effect.provide(telemetry(`reprise-${options.name}`, makePino(2, log.level), log.level))
  )
})
