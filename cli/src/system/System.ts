/** Composes the services for the commands that do the work: `run`, `sessions start`, `demo` and `up`. */
import { type ActorConfig, type Broker, type Messenger, storedMetrics } from "@reprise/actor"
import * as gate from "@reprise/gate"
import { ensureStreams, tryLock } from "@reprise/nats"
import { exportsTelemetry } from "@reprise/observability"
import * as sessionManager from "@reprise/session-manager"
import * as workspace from "@reprise/workspace"
import { Effect, Layer } from "effect"
import { sessionSettings } from "../config/serviceOptions.ts"
import { answerKey } from "../project/consoleSecrets.ts"
import { deciders } from "./actors.ts"
import { BrokerRole, untilWorkerEnds } from "./broker.ts"
import { rememberingIds } from "./ids.ts"
import { failureOf, logging, messaging, orCliFailure } from "./messaging.ts"
import { notifyOptions } from "./notifications.ts"
import { knownPushBrowsers, pushBrowsers } from "./pushBrowsers.ts"
import { AgentStart, runtimes } from "./runtimes.ts"
import { asItself, type ServiceBrokers } from "./ServiceBrokers.ts"
import { type SystemOptions, usesRemote, VisitedRepository } from "./SystemOptions.ts"
import { requireSandbox, sandboxOf } from "./sandbox.ts"

/** Without a collector nobody would see them. */
const measured = Layer.suspend(() =>
  exportsTelemetry(process.env)
    ? Layer.merge(asItself("orchestrator", storedMetrics("orchestrator")), asItself("gate", storedMetrics("gate")))
    : Layer.empty
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

/** Decide, answer queries, and do the work on this host. */
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
