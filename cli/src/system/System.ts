/** Where services are composed. A command says what it needs: to do the work, or to read and decide. */
import { join } from "node:path"
import { ActorConfig, type Broker, JetStreamBroker, MemoryBroker, Messenger } from "@reprise/actor"
import type { AgentRuntimes } from "@reprise/agent"
import * as gate from "@reprise/gate"
import { ensureStreams, prepareDirectory, tryLock } from "@reprise/nats"
import { type LogLevel, layerPino, makePino } from "@reprise/observability"
import * as orchestrator from "@reprise/orchestrator"
import { Host } from "@reprise/protocol"
import * as reviewer from "@reprise/reviewer"
import * as sessionManager from "@reprise/session-manager"
import * as workspace from "@reprise/workspace"
import { Effect, Layer } from "effect"
import { type Config, get } from "../config/Config.ts"
import { sessionSettings } from "../config/sessionSettings.ts"
import { isInitialised, type Project } from "../project/Project.ts"
import { CliFailure, missing } from "../terminal/CliFailure.ts"
import { type LocalBroker, localBroker, remoteBroker, Tenure, untilUnworked } from "./broker.ts"
import { runtimes } from "./runtimes.ts"

export interface SystemOptions {
  readonly project: Project
  readonly config: Config
  /** URL of a NATS server whose services do the work. */
  readonly nats?: string
  /** The command waits for what will happen: a broker is made where none ever ran. */
  readonly lasting?: boolean
  /** Added to OpenCode's environment. */
  readonly openCodeEnvironment?: Readonly<Record<string, string>>
  /** OpenCode is not started before an agent is needed. Default: it is, so that it is there in time. */
  readonly lazyAgents?: boolean
  /** The agents' runtimes in place of OpenCode and Claude. */
  readonly runtimes?: Layer.Layer<AgentRuntimes>
  /** The name of this host in subjects. Default: local. */
  readonly host?: string
}

/** Decide and answer queries; touch neither files nor agents. */
const actors = ({ config }: SystemOptions) =>
  Layer.mergeAll(
    orchestrator.layer,
    gate.layer,
    reviewer.layer,
    sessionManager.actorsWith(sessionSettings(config)),
    workspace.actors
  )

/** Do the work on this host. */
const workers = (options: SystemOptions) =>
  Layer.mergeAll(sessionManager.workersWith(sessionSettings(options.config)), workspace.workers).pipe(
    Layer.provide(options.runtimes ?? runtimes(options))
  )

const settings = ({ config, host }: SystemOptions) =>
  ActorConfig.layer({ prefix: get(config, "nats.prefix"), host: Host.make(host ?? "local") })

/** Messages over a broker. */
export const messaging = (options: SystemOptions, local: LocalBroker = { patienceMs: 0 }) => {
  const nats = options.nats ?? get<string | undefined>(options.config, "nats.url")
  return Messenger.layer.pipe(
    Layer.provideMerge(JetStreamBroker.layer),
    Layer.provideMerge(nats === undefined ? localBroker(options, local) : remoteBroker(options, nats)),
    Layer.provideMerge(settings(options))
  )
}

const logging = ({ config, project }: SystemOptions) => {
  const level = get<LogLevel>(config, "log.level")
  // The first to write there: a folder in which nothing can be kept is named as such.
  return Layer.unwrap(
    Effect.map(prepareDirectory(project.directory), () =>
      layerPino(makePino(join(project.directory, "logs", "reprise.log"), level), level)
    )
  )
}

export const usesRemote = (options: SystemOptions): boolean =>
  options.nats !== undefined || options.config.get("nats.url")?.value !== undefined

const explained = <A, E, R>(layer: Layer.Layer<A, E, R>): Layer.Layer<A, CliFailure, R> =>
  layer.pipe(
    Layer.catch((error) =>
      Layer.effectContext(
        Effect.fail(
          error instanceof CliFailure
            ? error
            : missing(
                "broken",
                error instanceof Error ? error.message : String(error),
                "'reprise doctor' looks at what is needed.",
                error
              )
        )
      )
    )
  )

/** While a process only looks something up, it runs the broker for a moment. */
const lookUpMs = 2_000

/** Whether this process does the work; if not, it is told when nobody does. */
const dutyOf = ({ project }: SystemOptions, works: boolean) =>
  Layer.effect(
    Tenure,
    Effect.map(Tenure, (tenure) =>
      works
        ? { ...tenure, works }
        : { ...tenure, lost: Effect.raceFirst(tenure.lost, untilUnworked(project.directory)) }
    )
  )

/**
 * Does the work of this repository in this process, or, while another process does it, follows as that one's client.
 * `Tenure.lost` tells when that process has ended: then this one may do the work.
 */
export const hostingSystem = (options: SystemOptions) =>
  explained(
    Layer.unwrap(
      Effect.gen(function* () {
        if (usesRemote(options)) return messaging(options)
        const hosting = yield* tryLock(options.project.directory, "host")
        const broker = messaging(options, { patienceMs: hosting ? lookUpMs : 0 })
        const duty = Layer.provideMerge(dutyOf(options, hosting), broker)
        return hosting ? Layer.merge(actors(options), workers(options)).pipe(Layer.provideMerge(duty)) : duty
      })
    ).pipe(Layer.provideMerge(logging(options)))
  )

const serves = Layer.effect(
  Tenure,
  Effect.map(Tenure, (tenure) => ({ ...tenure, works: true }))
)

/** Does the work of this repository, or, with a server that others run, all that is sent there. */
export const servingSystem = (options: SystemOptions) =>
  usesRemote(options)
    ? explained(
        Layer.merge(actors(options), workers(options)).pipe(
          Layer.provide(Layer.effectDiscard(ensureStreams(get(options.config, "nats.prefix")))),
          Layer.provideMerge(Layer.provideMerge(serves, messaging(options))),
          Layer.provideMerge(logging(options))
        )
      )
    : hostingSystem(options)

/** Decides, where nobody else does, and answers queries: questions can be read and answered while nothing runs. */
export const readingSystem = (
  options: SystemOptions
): Layer.Layer<Messenger | Broker | ActorConfig | Tenure, CliFailure> => {
  if (usesRemote(options)) return explained(messaging(options))
  if (!isInitialised(options.project) && options.lasting !== true) return emptySystem(options)
  const deciding = Layer.unwrap(Effect.map(Tenure, ({ mine }) => (mine ? actors(options) : Layer.empty)))
  return explained(deciding.pipe(Layer.provideMerge(messaging(options)), Layer.provideMerge(logging(options))))
}

/** A repository in which nothing ever ran: everything is empty, and nothing is written. */
const emptySystem = (options: SystemOptions) =>
  explained(
    actors(options).pipe(
      Layer.provideMerge(Messenger.layer),
      Layer.provideMerge(MemoryBroker.layer),
      Layer.provideMerge(Layer.succeed(Tenure, { mine: true, works: false, room: Effect.void, lost: Effect.never })),
      Layer.provideMerge(settings(options))
    )
  )
