/** Composes the services for the commands that do the work: `run`, `sessions start`, `demo` and `up`. */
import { join } from "node:path"
import { ActorConfig, type Broker, HostTaken, JetStreamBroker, Messenger, storedMetrics } from "@reprise/actor"
import type { AgentRuntimes } from "@reprise/agent"
import * as gate from "@reprise/gate"
import { ensureStreams, onDisk, tryLock } from "@reprise/nats"
import { exportsTelemetry, makePino, telemetry } from "@reprise/observability"
import * as orchestrator from "@reprise/orchestrator"
import { Host } from "@reprise/protocol"
import * as reviewer from "@reprise/reviewer"
import * as sessionManager from "@reprise/session-manager"
import * as workspace from "@reprise/workspace"
import { Context, Effect, Layer } from "effect"
import { sessionSettings } from "../config/serviceOptions.ts"
import type { Settings } from "../config/settingsTable.ts"
import { answerKey } from "../project/consoleSecrets.ts"
import type { Project } from "../project/Project.ts"
import { prepareState } from "../project/stateOrigin.ts"
import { CliFailure, missing } from "../terminal/CliFailure.ts"
import { BrokerRole, noticingFull, remoteBroker, untilWorkerEnds } from "./broker.ts"
import { readable } from "./brokerTrouble.ts"
import { rememberingIds } from "./ids.ts"
import { type LocalBroker, localBroker, runningBroker } from "./localBroker.ts"
import { notifyOptions } from "./notifications.ts"
import { knownPushBrowsers, pushBrowsers } from "./pushBrowsers.ts"
import { AgentStart, runtimes } from "./runtimes.ts"
import { asItself, ServiceBrokers } from "./ServiceBrokers.ts"
import { requireSandbox, sandboxOf } from "./sandbox.ts"

/** Whoever types a command: somebody at the gate, or who removes and repairs what is stored. */
export type ClientIdentity = "person" | "operator"

export interface SystemOptions {
  readonly project: Project
  readonly settings: Settings
  /** URL of a NATS server whose services do the work; else `nats.url` of the settings. */
  readonly nats?: string
  /** The command waits for events: a broker is started even if none ever ran here. */
  readonly lasting?: boolean
  /** Added to OpenCode's environment. */
  readonly openCodeEnvironment?: Readonly<Record<string, string>>
  /** Start OpenCode when an agent is needed. Default: at once, so that it is ready in time. */
  readonly lazyAgents?: boolean
  /** Replaces the runtimes OpenCode and Claude. */
  readonly runtimes?: Layer.Layer<AgentRuntimes>
  /** The name of this host in subjects. Default: local. */
  readonly host?: string
  /** The port of the web console that this process serves to its machine; absent: none, or it is not known yet. */
  readonly consolePort?: number
  /** This process serves the web console of its repository. */
  readonly servesConsole?: boolean
  /** As whom the command talks to the broker, besides the services that it runs. Default: a person. */
  readonly identity?: ClientIdentity
}

/** The repository whose agents' sessions may be looked into; undefined: only what was saved of them may be read. */
export const VisitedRepository = Context.Reference<Effect.Effect<SystemOptions | undefined>>("cli/VisitedRepository", {
  defaultValue: () => Effect.succeed(undefined)
})

const serverUrl = ({ nats, settings }: SystemOptions): string | undefined => nats ?? settings.nats.url

/** Whether the broker is a server that others run. */
export const usesRemote = (options: SystemOptions): boolean => serverUrl(options) !== undefined

/** Without a collector nobody would see them. */
const measured = Layer.suspend(() =>
  exportsTelemetry(process.env)
    ? Layer.merge(asItself("orchestrator", storedMetrics("orchestrator")), asItself("gate", storedMetrics("gate")))
    : Layer.empty
)

/** Neither touch a working tree nor agents, nor do they notify anybody. */
const deciders = Layer.mergeAll(asItself("orchestrator", orchestrator.layer), asItself("reviewer", reviewer.layer))

/** Make decisions and answer queries; need neither the working tree nor agents. */
export const actors = ({ settings }: SystemOptions) =>
  Layer.mergeAll(
    deciders,
    asItself("gate", gate.actorsWith({ ...settings.notify, channels: Object.keys(settings.notify.channels) })),
    asItself("session-manager", sessionManager.actorsWith(sessionSettings(settings))),
    asItself("workspace", workspace.actors)
  )

/** Of a broker that others run, any gate may take a notification, and only one console knows its browsers. */
const pushOf = (options: SystemOptions) => {
  const { project, servesConsole = false, settings } = options
  if (usesRemote(options)) return Effect.undefined
  return servesConsole ? pushBrowsers(project, settings) : knownPushBrowsers(project, settings)
}

/**
 * Links that answer are verified by the console of this repository, so its own key signs them: not for a broker that other
 * machines share, unless they share a key, too.
 */
const gateOptions = Effect.fnUntraced(function* (options: SystemOptions) {
  const { project, settings } = options
  const { consolePort } = options
  const push = yield* pushOf(options)
  const notify = {
    ...(yield* notifyOptions(settings, usesRemote(options))),
    ...(push === undefined ? {} : { push }),
    ...(consolePort === undefined ? {} : { localOrigin: `http://127.0.0.1:${consolePort}` })
  }
  const hasOwnLinks = notify.origin !== undefined && notify.channels.length > 0 && !usesRemote(options)
  return hasOwnLinks && notify.answerKey === undefined ? { ...notify, answerKey: yield* answerKey(project) } : notify
})

/** The same, and do the work on this host. */
const services = (options: SystemOptions) =>
  Layer.mergeAll(
    deciders,
    measured,
    asItself("gate", Layer.unwrap(Effect.map(gateOptions(options), gate.layerWith))),
    asItself("session-manager", sessionManager.layerWith(sessionSettings(options.settings))),
    asItself("workspace", workspace.layer)
  )

/** What the workers need of this host. It needs no broker, so both start side by side. */
const hostParts = (options: SystemOptions) =>
  runtimes(options).pipe(
    Layer.provideMerge(sandboxOf(options)),
    Layer.provide(Layer.effectDiscard(requireSandbox(options)))
  )

/** Losing the agents' server for good, while it starts, is like losing the broker: nothing more can be done here. */
const withAgents = Layer.effect(
  BrokerRole,
  Effect.gen(function* () {
    const role = yield* BrokerRole
    const { failed } = yield* AgentStart
    return { ...role, lost: Effect.raceFirst(role.lost, Effect.mapError(failed, failureOf)) }
  })
)

/** What a command uses of the system. */
type Parts = Messenger | Broker | ActorConfig | BrokerRole | ServiceBrokers

const onlyParts = <E, R>(layer: Layer.Layer<Parts, E, R>): Layer.Layer<Parts, E, R> => layer

/** Decides and works here, over this broker. */
const hosting = <E, R>(options: SystemOptions, broker: Layer.Layer<Parts, E, R>) =>
  services(options).pipe(Layer.provideMerge(withAgents), Layer.provideMerge(Layer.merge(hostParts(options), broker)))

export const actorConfig = ({ host, settings }: SystemOptions) =>
  ActorConfig.layer({ prefix: settings.nats.prefix, host: Host.make(host ?? "local") })

const ownOrRunning = (options: SystemOptions, local: LocalBroker | "running") =>
  local === "running" ? runningBroker(options) : localBroker(options, local)

/** Messages over a broker. `running`: over one that somebody runs already, or none. */
export const messaging = (
  options: SystemOptions,
  local: LocalBroker | "running" = { waitForOwnerMs: 0, works: false }
) => {
  const url = serverUrl(options)
  const { prefix } = options.settings.nats
  return noticingFull(url === undefined ? { prefix, directory: options.project.directory } : { prefix }).pipe(
    Layer.provideMerge(Messenger.layer),
    Layer.provideMerge(JetStreamBroker.layer),
    Layer.provideMerge(ServiceBrokers.layer),
    Layer.provideMerge(url === undefined ? ownOrRunning(options, local) : remoteBroker(options, url)),
    Layer.provideMerge(actorConfig(options))
  )
}

/** Fails if the project's state folder is not this machine's own, or not writable: nothing writes to it before this. */
export const logging = ({ project, settings: { log } }: SystemOptions) =>
  Layer.unwrap(
    prepareState(project).pipe(
      Effect.andThen(
        onDisk(project.directory, async () => makePino(join(project.directory, "logs", "reprise.log"), log.level))
      ),
      Effect.map((logger) => telemetry("reprise", logger, log.level))
    )
  )

const failureOf = (thrown: unknown): CliFailure => {
  const error = readable(thrown)
  if (error instanceof CliFailure) return error
  const message = error instanceof Error ? error.message : String(error)
  return error instanceof HostTaken
    ? missing("host-taken", message, "'reprise doctor' shows what answers on this broker.", error)
    : missing("broken", message, "'reprise doctor' checks what a run needs.", error)
}

/** Turns every failure of a layer into a `CliFailure`. */
export const orCliFailure = <A, E, R>(layer: Layer.Layer<A, E, R>): Layer.Layer<A, CliFailure, R> =>
  layer.pipe(Layer.catch((error) => Layer.effectContext(Effect.fail(failureOf(error)))))

/** A process that only looks something up usually owns the broker no longer than this. */
const lookUpMs = 2_000

/** The broker's role, plus whether this process does the work; if not, losing the worker counts as losing the broker. */
const roleOf = ({ project }: SystemOptions, works: boolean) =>
  Layer.effect(
    BrokerRole,
    Effect.map(BrokerRole, (role) =>
      works ? { ...role, works } : { ...role, lost: Effect.raceFirst(role.lost, untilWorkerEnds(project.directory)) }
    )
  )

/**
 * Does the work of this repository in this process. While another process does the work, this one is its client;
 * `BrokerRole.lost` fails when the other has ended, and this one can take over.
 */
export const hostingSystem = (options: SystemOptions) =>
  orCliFailure(
    Layer.unwrap(
      Effect.gen(function* () {
        if (usesRemote(options)) return messaging(options)
        const works = yield* tryLock(options.project.directory, "host")
        const broker = messaging(options, { waitForOwnerMs: works ? lookUpMs : 0, works })
        const connected = Layer.provideMerge(roleOf(options, works), broker)
        if (!works) return onlyParts(connected)
        return onlyParts(Layer.provideMerge(rememberingIds(options.project), hosting(options, connected)))
      })
    ).pipe(
      Layer.provideMerge(logging(options)),
      Layer.provideMerge(Layer.succeed(VisitedRepository, Effect.succeed(options)))
    )
  )

const worker = Layer.effect(
  BrokerRole,
  Effect.map(BrokerRole, (role) => ({ ...role, works: true }))
)

const streams = ({ settings: { nats } }: SystemOptions) =>
  ensureStreams(nats.prefix, nats.replicas === undefined ? {} : { replicas: nats.replicas })

/** Does the work of this repository or, on a server that others run, all work that is sent there. */
export const servingSystem = (options: SystemOptions) =>
  usesRemote(options)
    ? orCliFailure(
        services(options).pipe(
          Layer.provide(Layer.effectDiscard(streams(options))),
          Layer.provideMerge(withAgents),
          Layer.provideMerge(Layer.merge(hostParts(options), Layer.provideMerge(worker, messaging(options)))),
          Layer.provideMerge(logging(options))
        )
      )
    : hostingSystem(options)
