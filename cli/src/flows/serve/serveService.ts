/** `reprise serve SERVICE --nats URL`: one service until stopped, as in a container. */
import { launchService } from "@reprise/actor/main"
import * as gate from "@reprise/gate"
import { makePino, telemetry } from "@reprise/observability"
import * as orchestrator from "@reprise/orchestrator"
import type { ServiceName } from "@reprise/protocol"
import * as reviewer from "@reprise/reviewer"
import * as sessionManager from "@reprise/session-manager"
import * as workspace from "@reprise/workspace"
import { Effect, Layer } from "effect"
import { configuredRuntimes, sessionSettings } from "../../config/serviceOptions.ts"
import { remoteSettings } from "../../system/broker.ts"
import type { ClientFlags } from "../../system/clientSystem.ts"
import { hostName } from "../../system/names.ts"
import { notifyOptions } from "../../system/notifications.ts"
import { runtimes } from "../../system/runtimes.ts"
import type { SystemOptions } from "../../system/System.ts"
import { requireSandbox, sandboxOf, warningOf } from "../../system/sandbox.ts"
import { missing } from "../../terminal/CliFailure.ts"
import { exitCodes } from "../../terminal/exitCodes.ts"
import { agentSettings, notifySettings, sandboxSettings } from "../../trust/trustedSettings.ts"
import { servedProject } from "./servedProject.ts"

interface Flags extends ClientFlags {
  readonly service: ServiceName
}

const serviceLayer = (service: ServiceName, options: SystemOptions, notify: gate.NotifyOptions) => {
  switch (service) {
    case "orchestrator":
      return orchestrator.layer
    case "reviewer":
      return reviewer.layer
    case "gate":
      return gate.layerWith(notify)
    case "workspace":
      return workspace.layer.pipe(Layer.provide(sandboxOf(options)))
    case "session-manager":
      return sessionManager
        .layerWith(sessionSettings(options.settings))
        .pipe(Layer.provide(runtimes(options)), Layer.provide(sandboxOf(options)))
  }
}

const runCommands: ReadonlySet<ServiceName> = new Set(["session-manager", "workspace"])

/** Ending by SIGTERM is how a service is meant to end: everything is finished or handed back by then. */
const endsCleanly = Effect.onInterrupt(() =>
  Effect.sync(() => {
    process.exitCode = exitCodes.done
  })
)

export const serveService = Effect.fn("serveService")(function* ({ nats, service }: Flags) {
  const runsCommands = runCommands.has(service)
  const { project, settings, url } = yield* servedProject({ nats }, service, [
    ...(service === "session-manager" ? agentSettings : []),
    ...(service === "gate" ? notifySettings : []),
    ...(runsCommands ? sandboxSettings : [])
  ])
  const warning = runsCommands
    ? warningOf(yield* requireSandbox({ project, settings }), configuredRuntimes(settings))
    : undefined
  if (warning !== undefined) yield* Effect.logWarning(warning)
  const notify = service === "gate" ? yield* notifyOptions(settings, true) : { channels: [] }
  const healthAddress = process.env["REPRISE_HEALTH_ADDRESS"] ?? ""
  return yield* launchService(serviceLayer(service, { project, settings }, notify), {
    ...remoteSettings(settings, url, service),
    host: yield* hostName,
    ...(settings.nats.replicas === undefined ? {} : { replicas: settings.nats.replicas }),
    ...(healthAddress === "" ? {} : { healthAddress })
  }).pipe(
    endsCleanly,
    Effect.mapError((error) => missing("service", error.message, "'reprise doctor' checks what is needed.", error)),
    Effect.provide(telemetry(`reprise-${service}`, makePino(2, settings.log.level), settings.log.level))
  )
})
