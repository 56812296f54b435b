/** `reprise serve SERVICE --nats URL`: one service until stopped, as in a container. */
import { launchService, serviceSystem } from "@reprise/actor/main"
import * as gate from "@reprise/gate"
import { layerPino, makePino } from "@reprise/observability"
import * as orchestrator from "@reprise/orchestrator"
import type { ServiceName } from "@reprise/protocol"
import * as reviewer from "@reprise/reviewer"
import * as sessionManager from "@reprise/session-manager"
import * as workspace from "@reprise/workspace"
import { Effect, Layer, Option } from "effect"
import { loadConfig } from "../../config/loadConfig.ts"
import { sessionSettings } from "../../config/serviceOptions.ts"
import { findRepository, projectAt } from "../../project/Project.ts"
import { prepareState, requireOwnState } from "../../project/stateOrigin.ts"
import { remoteSettings } from "../../system/broker.ts"
import type { ClientFlags } from "../../system/clientSystem.ts"
import { hostName } from "../../system/names.ts"
import { runtimes } from "../../system/runtimes.ts"
import type { SystemOptions } from "../../system/System.ts"
import { requireSandbox, sandboxOf, warningOf } from "../../system/sandbox.ts"
import { missing, wrongUse } from "../../terminal/CliFailure.ts"
import { requireTrusted } from "../../trust/requireTrust.ts"
import { agentSettings, sandboxSettings, serverSettings } from "../../trust/trustedSettings.ts"

interface Flags extends ClientFlags {
  readonly service: ServiceName
}

const serviceLayer = (service: ServiceName, options: SystemOptions) => {
  switch (service) {
    case "orchestrator":
      return orchestrator.layer
    case "reviewer":
      return reviewer.layer
    case "gate":
      return gate.layer
    case "workspace":
      return workspace.layer.pipe(Layer.provide(sandboxOf(options)))
    case "session-manager":
      return sessionManager
        .layerWith(sessionSettings(options.settings))
        .pipe(Layer.provide(runtimes(options)), Layer.provide(sandboxOf(options)))
  }
}

const writesState: ReadonlySet<ServiceName> = new Set(["session-manager", "workspace"])

/** A container's folder need not be a repository; then its state is whatever its operator mounts there. */
const projectToServe = (directory: string, service: ServiceName) =>
  findRepository(directory).pipe(
    Effect.matchEffect({
      onFailure: () => Effect.succeed(projectAt(directory)),
      onSuccess: (project) =>
        Effect.as(writesState.has(service) ? prepareState(project) : requireOwnState(project), project)
    })
  )

export const serveService = Effect.fn("serveService")(function* ({ nats, service }: Flags) {
  const project = yield* projectToServe(process.cwd(), service)
  const config = yield* loadConfig(project.root)
  const { settings } = config
  const url = Option.getOrUndefined(nats) ?? settings.nats.url
  if (url === undefined) {
    return yield* wrongUse(
      "nats-missing",
      "A service needs a NATS server.",
      "Set --nats URL, REPRISE_NATS_URL or nats.url."
    )
  }
  const server = Option.isSome(nats) ? (["nats.credentials"] as const) : serverSettings
  const runsCommands = service === "session-manager" || service === "workspace"
  yield* requireTrusted(project, config, [
    ...server,
    ...(service === "session-manager" ? agentSettings : []),
    ...(runsCommands ? sandboxSettings : [])
  ])
  const warning = runsCommands ? warningOf(yield* requireSandbox({ project, settings })) : undefined
  const system = serviceSystem({ ...remoteSettings(settings, url, service), host: yield* hostName })
  if (warning !== undefined) yield* Effect.logWarning(warning)
  return yield* launchService(serviceLayer(service, { project, settings }), service).pipe(
    Effect.provide(system),
    Effect.mapError((error) => missing("service", error.message, "'reprise doctor' checks what is needed.", error)),
    Effect.provide(layerPino(makePino(2, settings.log.level), settings.log.level))
  )
})
