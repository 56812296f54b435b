/** The services of a host over its broker. Loaded when the agents' server has been launched, which takes longest. */

import { lagMetrics, Messenger, storedMetrics } from "@reprise/actor"
import * as gate from "@reprise/gate"
import { ensureStreams } from "@reprise/nats"
import { exportsMetrics, exportsTelemetry } from "@reprise/observability"
import { defined } from "@reprise/protocol"
import * as sessionManager from "@reprise/session-manager"
import * as workspace from "@reprise/workspace"
import { Effect, Layer } from "effect"
import { sessionSettings } from "../config/serviceOptions.ts"
import { answerKey } from "../project/consoleSecrets.ts"
import { deciders } from "./actors.ts"
import { AgentStart } from "./agents/runtimes.ts"
import { BrokerRole, lostWithBroker, untilWorkerEnds } from "./broker/broker.ts"
import { failureOf, messaging } from "./broker/messaging.ts"
import { asItself } from "./broker/ServiceBrokers.ts"
import { rememberingIds } from "./lookUp/ids.ts"
import { notifyOptions } from "./notifications.ts"
import { knownPushBrowsers, pushBrowsers } from "./pushBrowsers.ts"
import { type SystemOptions, usesRemote } from "./SystemOptions.ts"

/** Without a collector nobody would see them. */
const measured = Layer.suspend(() =>
  exportsTelemetry(process.env)
    ? Layer.mergeAll(
        asItself("orchestrator", storedMetrics("orchestrator")),
        asItself("gate", storedMetrics("gate")),
        exportsMetrics(process.env) ? lagMetrics : Layer.empty
      )
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
    ...defined({ push }),
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

/** Losing the agents' server for good, while it starts, is like losing the broker: nothing more can be done here. */
const withAgents = Layer.effect(
  BrokerRole,
  Effect.gen(function* () {
    const role = yield* BrokerRole
    const { failed } = yield* AgentStart
    return { ...role, lost: Effect.raceFirst(role.lost, Effect.mapError(failed, failureOf)) }
  })
)

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

/** The broker of this repository. `works`: this process does the work. */
export const connected = (options: SystemOptions, works: boolean) =>
  Layer.provideMerge(roleOf(options, works), messaging(options, { waitForOwnerMs: works ? lookUpMs : 0, works }))

/** A long list is kept once it was read: nobody who asks for questions is to wait for the first reading. */
const readingQuestions = Layer.effectDiscard(
  Effect.flatMap(Messenger, ({ lines }) => Effect.forkScoped(Effect.ignore(lines.gate())))
)

/** Decides and works here. */
export const hosted = (options: SystemOptions) =>
  Layer.merge(rememberingIds(options.project), readingQuestions).pipe(
    Layer.provideMerge(lostWithBroker(services(options))),
    Layer.provideMerge(withAgents)
  )

const worker = Layer.effect(
  BrokerRole,
  Effect.map(BrokerRole, (role) => ({ ...role, works: true }))
)

const streams = ({ settings: { nats } }: SystemOptions) =>
  ensureStreams(nats.prefix, nats.replicas === undefined ? {} : { replicas: nats.replicas })

/** Does all work that is sent to a server that others run. */
export const hostedForOthers = (options: SystemOptions) =>
  services(options).pipe(Layer.provide(Layer.effectDiscard(streams(options))), Layer.provideMerge(withAgents))

/** An external broker, where this process does the work. */
export const brokerOfOthers = (options: SystemOptions) => Layer.provideMerge(worker, messaging(options))
