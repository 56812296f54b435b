/** `reprise serve SERVICE --nats URL`: one service until stopped, as in a container. */
import { launchService, serviceSystem } from "@reprise/actor/main"
import * as gate from "@reprise/gate"
import { type LogLevel, layerPino, makePino } from "@reprise/observability"
import * as orchestrator from "@reprise/orchestrator"
import type { ServiceName } from "@reprise/protocol"
import * as reviewer from "@reprise/reviewer"
import * as sessionManager from "@reprise/session-manager"
import * as workspace from "@reprise/workspace"
import { Effect, Layer, Option } from "effect"
import { get } from "../../config/Config.ts"
import { loadConfig } from "../../config/loadConfig.ts"
import { sessionSettings } from "../../config/sessionSettings.ts"
import { findProject, projectAt } from "../../project/Project.ts"
import { remoteSettings } from "../../system/broker.ts"
import { hostName } from "../../system/hostName.ts"
import { runtimes } from "../../system/runtimes.ts"
import type { SystemOptions } from "../../system/System.ts"
import { missing, wrongUse } from "../../terminal/CliFailure.ts"
import { requireTrusted } from "../../trust/requireTrust.ts"
import { agentSettings, serverSettings } from "../../trust/trustedSettings.ts"

interface Flags {
  readonly service: ServiceName
  readonly nats: Option.Option<string>
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
      return workspace.layer
    case "session-manager":
      return sessionManager.layerWith(sessionSettings(options.config)).pipe(Layer.provide(runtimes(options)))
  }
}

export const serve = Effect.fn("serve")(function* ({ nats, service }: Flags) {
  const project = yield* findProject(process.cwd()).pipe(Effect.orElseSucceed(() => projectAt(process.cwd())))
  const config = yield* loadConfig(project.root, new Map())
  const url = Option.getOrUndefined(nats) ?? get<string | undefined>(config, "nats.url")
  if (url === undefined) {
    return yield* wrongUse(
      "nats-missing",
      "A service needs a NATS server.",
      "Name it with --nats URL, REPRISE_NATS_URL or nats.url."
    )
  }
  const own = Option.isSome(nats) ? (["nats.credentials"] as const) : serverSettings
  yield* requireTrusted(project, config, service === "session-manager" ? [...own, ...agentSettings] : own)
  const level = get<LogLevel>(config, "log.level")
  const system = serviceSystem({ ...remoteSettings(config, url, service), host: yield* hostName })
  return yield* launchService(serviceLayer(service, { project, config }), service).pipe(
    Effect.provide(system),
    Effect.mapError((error) => missing("service", error.message, "'reprise doctor' looks at what is needed.", error)),
    Effect.provide(layerPino(makePino(2, level), level))
  )
})
