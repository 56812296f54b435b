/** `reprise serve SERVICE --nats URL`: one service until stopped, as in a container. */
import { ActorConfig, Messenger } from "@reprise/actor"
import { JetStreamBroker } from "@reprise/actor/jetstream"
import { AgentRuntimes } from "@reprise/agent"
import * as gate from "@reprise/gate"
import { ensureStreams } from "@reprise/nats"
import { type LogLevel, layerPino, makePino } from "@reprise/observability"
import * as orchestrator from "@reprise/orchestrator"
import { Host, isKey, type ServiceName } from "@reprise/protocol"
import * as reviewer from "@reprise/reviewer"
import * as sessionManager from "@reprise/session-manager"
import * as workspace from "@reprise/workspace"
import { Effect, Layer, Option } from "effect"
import { missing, wrongUse } from "../CliFailure.ts"
import { type Config, get } from "../config/Config.ts"
import { loadConfig } from "../config/loadConfig.ts"
import { findProject, type Project } from "../project/Project.ts"
import { remoteBroker } from "./broker.ts"
import { openCode } from "./openCode.ts"

interface Flags {
  readonly service: ServiceName
  readonly nats: Option.Option<string>
}

const serviceLayer = (service: ServiceName, project: Project, config: Config) => {
  switch (service) {
    case "orchestrator":
      return orchestrator.layer
    case "reviewer":
      return reviewer.layer
    case "gate":
      return gate.layer
    case "workspace":
      return Layer.merge(workspace.actors, workspace.workers)
    case "session-manager":
      return Layer.merge(sessionManager.actors, sessionManager.workers).pipe(
        Layer.provide(AgentRuntimes.layerSingle.pipe(Layer.provide(openCode({ project, config }))))
      )
  }
}

/** The name of this host in subjects: `REPRISE_HOST`, else `local`. */
const hostName = Effect.suspend(() => {
  const name = process.env["REPRISE_HOST"] ?? "local"
  return isKey(name)
    ? Effect.succeed(Host.make(name))
    : wrongUse("bad-host", `REPRISE_HOST is '${name.slice(0, 80)}'.`, "Use 1 to 64 letters, digits, '_' or '-'.")
})

export const serve = Effect.fn("serve")(function* (flags: Flags) {
  const project = yield* findProject(process.cwd()).pipe(
    Effect.orElseSucceed(() => ({ root: process.cwd(), directory: `${process.cwd()}/.reprise` }))
  )
  const config = yield* loadConfig(project.root, new Map())
  const url = Option.getOrUndefined(flags.nats) ?? get<string | undefined>(config, "nats.url")
  if (url === undefined) {
    return yield* wrongUse(
      "nats-missing",
      "A service needs a NATS server.",
      "Name it with --nats URL, REPRISE_NATS_URL or nats.url."
    )
  }
  const level = get<LogLevel>(config, "log.level")
  const prefix = get<string>(config, "nats.prefix")
  const service = serviceLayer(flags.service, project, config).pipe(
    Layer.provide(Messenger.layer),
    Layer.provide(JetStreamBroker.layer),
    Layer.provide(Layer.effectDiscard(ensureStreams(prefix, {}))),
    Layer.provide(remoteBroker({ project, config }, url)),
    Layer.provide(ActorConfig.layer({ prefix, host: yield* hostName }))
  )
  return yield* Layer.launch(
    Layer.effectDiscard(Effect.logInfo(`${flags.service} is ready`)).pipe(Layer.provideMerge(service))
  ).pipe(
    Effect.mapError((error) =>
      missing(
        "service",
        error instanceof Error ? error.message : String(error),
        "'reprise doctor' looks at what is needed.",
        error
      )
    ),
    Effect.provide(layerPino(makePino(2, level), level))
  )
})
