/** `reprise serve SERVICE --nats URL`: one service until stopped, as in a container. */
import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import { launchService } from "@reprise/actor/main"
import * as gate from "@reprise/gate"
import { layerPino, makePino } from "@reprise/observability"
import * as orchestrator from "@reprise/orchestrator"
import type { ServiceName } from "@reprise/protocol"
import * as reviewer from "@reprise/reviewer"
import * as sessionManager from "@reprise/session-manager"
import * as workspace from "@reprise/workspace"
import { Effect, Layer, Option } from "effect"
import { loadConfig } from "../../config/loadConfig.ts"
import type { Config } from "../../config/resolveConfig.ts"
import { sessionSettings } from "../../config/serviceOptions.ts"
import { environmentName } from "../../config/settingsTable.ts"
import { findRepository, projectAt } from "../../project/Project.ts"
import { prepareState, requireOwnState } from "../../project/stateOrigin.ts"
import { remoteSettings } from "../../system/broker.ts"
import type { ClientFlags } from "../../system/clientSystem.ts"
import { hostName } from "../../system/names.ts"
import { runtimes } from "../../system/runtimes.ts"
import type { SystemOptions } from "../../system/System.ts"
import { requireSandbox, sandboxOf, warningOf } from "../../system/sandbox.ts"
import { type CliFailure, missing, wrongUse } from "../../terminal/CliFailure.ts"
import { exitCodes } from "../../terminal/exitCodes.ts"
import { requireTrusted } from "../../trust/requireTrust.ts"
import {
  agentSettings,
  sandboxSettings,
  serverSettings,
  type TrustedPath,
  trustedSettings
} from "../../trust/trustedSettings.ts"

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

/** Without git, a folder below which git would look is known by what it holds. */
const isInRepository = (directory: string): boolean =>
  existsSync(join(directory, ".git")) || (dirname(directory) !== directory && isInRepository(dirname(directory)))

const isNoRepository = ({ code }: CliFailure, directory: string): boolean =>
  code === "not-a-repository" || (code === "git-missing" && !isInRepository(directory))

/** A container's folder need not be a repository; then its state is whatever its operator mounts there. */
const projectToServe = (directory: string, service: ServiceName) =>
  findRepository(directory).pipe(
    Effect.flatMap((project) =>
      Effect.as(writesState.has(service) ? prepareState(project) : requireOwnState(project), {
        project,
        isRepository: true
      })
    ),
    Effect.catchIf(
      (failure) => isNoRepository(failure, directory),
      () => Effect.succeed({ project: projectAt(directory), isRepository: false })
    )
  )

/** Trust belongs to a clone. Outside of one, who wrote a file is unknown, and what needs trust comes from the environment. */
const requireEnvironment = Effect.fnUntraced(function* (config: Config, paths: ReadonlyArray<TrustedPath>) {
  const [first] = trustedSettings(config, paths).filter(
    ({ source }) => source !== "environment" && source !== "default"
  )
  if (first === undefined) return
  return yield* missing(
    "not-trusted",
    `${first.from} sets ${first.setting}, which this machine can trust only in a git repository.`,
    `Set ${environmentName(first.setting)} instead.`
  )
})

/** Ending by SIGTERM is how a service is meant to end: everything is finished or handed back by then. */
const endsCleanly = Effect.onInterrupt(() =>
  Effect.sync(() => {
    process.exitCode = exitCodes.done
  })
)

export const serveService = Effect.fn("serveService")(function* ({ nats, service }: Flags) {
  const { isRepository, project } = yield* projectToServe(process.cwd(), service)
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
  const paths = [
    ...server,
    ...(service === "session-manager" ? agentSettings : []),
    ...(runsCommands ? sandboxSettings : [])
  ]
  yield* isRepository ? requireTrusted(project, config, paths) : requireEnvironment(config, paths)
  const warning = runsCommands ? warningOf(yield* requireSandbox({ project, settings })) : undefined
  if (warning !== undefined) yield* Effect.logWarning(warning)
  const healthAddress = process.env["REPRISE_HEALTH_ADDRESS"] ?? ""
  return yield* launchService(serviceLayer(service, { project, settings }), {
    ...remoteSettings(settings, url, service),
    host: yield* hostName,
    ...(settings.nats.replicas === undefined ? {} : { replicas: settings.nats.replicas }),
    ...(healthAddress === "" ? {} : { healthAddress })
  }).pipe(
    endsCleanly,
    Effect.mapError((error) => missing("service", error.message, "'reprise doctor' checks what is needed.", error)),
    Effect.provide(layerPino(makePino(2, settings.log.level), settings.log.level))
  )
})
