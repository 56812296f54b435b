/** `reprise serve SERVICE --nats URL`: one service until stopped, as in a container. */
import type { ActorConfig, Broker, Messenger } from "@reprise/actor"
import * as gate from "@reprise/gate"
import * as orchestrator from "@reprise/orchestrator"
import { defined, type ServiceName } from "@reprise/protocol"
import * as reviewer from "@reprise/reviewer"
import * as sessionManager from "@reprise/session-manager"
import * as workspace from "@reprise/workspace"
import { Effect, Layer, Result } from "effect"
import { configuredRuntimes, sessionSettings } from "../../config/serviceOptions.ts"
import { runtimes } from "../../system/agents/runtimes.ts"
import { requireSandbox, sandboxOf, warningOf } from "../../system/agents/sandbox.ts"
import { remoteSettings } from "../../system/broker/broker.ts"
import type { ClientFlags } from "../../system/clientSystem.ts"
import { notifyOptions } from "../../system/notifications.ts"
import type { SystemOptions } from "../../system/SystemOptions.ts"
import { wrongUse } from "../../terminal/CliFailure.ts"
import { agentSettings, notifySettings, sandboxSettings } from "../../trust/trustedSettings.ts"
import { awaitedAgent } from "./awaitedAgent.ts"
import { launched } from "./launched.ts"
import { servedProject } from "./servedProject.ts"

interface Flags extends ClientFlags {
  readonly service: ServiceName
}

/** Services fail in ways of their own, which all say what is wrong. */
type ServiceLayer = Layer.Layer<never, { readonly message: string }, ActorConfig | Broker | Messenger>

const serviceLayer = (service: ServiceName, options: SystemOptions, notify: gate.NotifyOptions): ServiceLayer => {
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

const requireRunLimit = Effect.suspend(() => {
  const limit = workspace.runLimit(process.env)
  return Result.isFailure(limit)
    ? wrongUse("bad-host-runs", limit.failure, "Set it to a number such as 4, or unset it.")
    : Effect.void
})

const runCommands: ReadonlySet<ServiceName> = new Set(["session-manager", "workspace"])

export const serveService = Effect.fn("serveService")(function* ({ nats, service }: Flags) {
  const runsCommands = runCommands.has(service)
  if (service === "workspace") yield* requireRunLimit
  const { project, settings, url } = yield* servedProject({ nats }, service, [
    ...(service === "session-manager" ? agentSettings : []),
    ...(service === "workspace" ? (["opencode.url"] as const) : []),
    ...(service === "gate" ? notifySettings : []),
    ...(runsCommands ? sandboxSettings : [])
  ])
  const warning = runsCommands
    ? warningOf(yield* requireSandbox({ project, settings }), configuredRuntimes(settings))
    : undefined
  if (warning !== undefined) yield* Effect.logWarning(warning)
  const notify = service === "gate" ? yield* notifyOptions(settings, true) : { channels: [] }
  const need = awaitedAgent(service, settings)
  return yield* launched(
    serviceLayer(service, { project, settings }, notify),
    { ...remoteSettings(settings, url, service), ...defined({ need }) },
    settings
  )
})
