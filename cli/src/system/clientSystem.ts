/** For commands that look up, answer and control: messages over the repository's broker, whoever runs it. */

import { type ActorConfig, type Broker, MemoryBroker, Messenger, QueryFailed } from "@reprise/actor"
import { defined } from "@reprise/protocol"
import { Effect, Layer, Option } from "effect"
import { loadConfig } from "../config/loadConfig.ts"
import { findProject } from "../project/findProject.ts"
import { isInitialised } from "../project/Project.ts"
import { type CliFailure, missing } from "../terminal/CliFailure.ts"
import { requireTrusted } from "../trust/requireTrust.ts"
import { credentialSettings, serverSettings } from "../trust/trustedSettings.ts"
import { type BrokerLost, isBrokerLost } from "./broker/BrokerLost.ts"
import { BrokerRole, maxTakeovers, untilBrokerLost, untilBrokerLostOrFull } from "./broker/broker.ts"
import { actorConfig, messaging, withReadableFailures } from "./broker/messaging.ts"
import { ServiceBrokers } from "./broker/ServiceBrokers.ts"
import { logging } from "./logging.ts"
import { rememberIds } from "./lookUp/ids.ts"
import { readStoredViews, type StoredViews, storedViewsMessenger } from "./lookUp/storedViews.ts"
import { type ClientIdentity, type SystemOptions, usesRemote, VisitedRepository } from "./SystemOptions.ts"

/** The flags of every command that needs a broker. */
export interface ClientFlags {
  readonly json: boolean
  readonly nats: Option.Option<string>
}

type NatsFlag = Pick<ClientFlags, "nats">

const loadActors = () => import("./actors.ts")

/** They take long to load, and most commands are clients of a process that runs them already. */
const actorsOf = (options: SystemOptions) =>
  Layer.unwrap(Effect.map(Effect.promise(loadActors), ({ actors }) => actors(options)))

/** Nobody runs the broker: what this process will need is loaded while the broker starts. A failure is seen later. */
const beginLoading = Effect.sync(() => {
  loadActors().catch(() => undefined)
})

/** The role of a process that has its broker in its own memory. */
const alone = Layer.succeed(BrokerRole, {
  owns: true,
  works: false,
  requireQuota: Effect.void,
  lost: Effect.never,
  full: Effect.never,
  patienceMs: 0
})

/** A repository in which nothing ever ran: everything is empty, and nothing is written. */
const emptySystem = (options: SystemOptions) =>
  withReadableFailures(
    actorsOf(options).pipe(
      Layer.provideMerge(Layer.merge(Messenger.layer, ServiceBrokers.shared)),
      Layer.provideMerge(MemoryBroker.layer),
      Layer.provideMerge(alone),
      Layer.provideMerge(actorConfig(options))
    )
  )

/** A repository in which nothing runs, for what only lists. */
const storedSystem = (options: SystemOptions, views: StoredViews) =>
  withReadableFailures(
    storedViewsMessenger(views).pipe(Layer.provideMerge(alone), Layer.provideMerge(actorConfig(options)))
  )

const briefly = { waitForOwnerMs: 0, works: false, whenOwning: beginLoading }

/** Runs the actors if no other process does: questions can be read and answered while nothing runs. */
const clientSystem = (
  options: SystemOptions
): Layer.Layer<Messenger | Broker | ActorConfig | BrokerRole, CliFailure | BrokerLost> => {
  if (usesRemote(options)) return withReadableFailures(messaging(options))
  if (!isInitialised(options.project) && options.lasting !== true) return emptySystem(options)
  const decisions = Layer.unwrap(Effect.map(BrokerRole, ({ owns }) => (owns ? actorsOf(options) : Layer.empty)))
  return withReadableFailures(
    decisions.pipe(Layer.provideMerge(messaging(options, briefly)), Layer.provideMerge(logging(options)))
  )
}

/** What was kept where nothing runs; else the system of every client. */
const listingSystem = (options: SystemOptions) =>
  Layer.unwrap(
    Effect.map(
      Effect.orElseSucceed(readStoredViews(options), () => undefined),
      (views) => (views === undefined ? clientSystem(options) : storedSystem(options, views))
    )
  )

/** For questions that are not worth starting anything. Fails where nobody runs the broker. */
export const lookingSystem = (options: SystemOptions) => withReadableFailures(messaging(options, "running"))

/** The repository around the current directory and its settings. */
export const clientOptions = Effect.fnUntraced(function* ({ nats }: NatsFlag) {
  const project = yield* findProject(process.cwd())
  const config = yield* loadConfig(project.root)
  const options: SystemOptions = {
    project,
    settings: config.settings,
    ...(Option.isNone(nats) ? {} : { nats: nats.value })
  }
  return { config, options }
})

type ClientEffect<A, E> = Effect.Effect<A, E, Messenger | Broker | ActorConfig>

interface Purpose {
  /** It waits for something: a broker is started even if none ever ran here. */
  readonly lasting: boolean
  /** It stores something, so it fails when the broker is full. */
  readonly writes: boolean
  /** Default: a person at the gate. */
  readonly identity?: ClientIdentity
  /** It only lists: where no broker runs, none is started. */
  readonly lists?: boolean
}

/** What a command changes while nothing else runs is known to shells, too. */
const rememberOwnIds = ({ project }: SystemOptions) =>
  Effect.flatMap(BrokerRole, ({ owns }) => (owns && isInitialised(project) ? rememberIds(project) : Effect.void))

const runOnce = Effect.fnUntraced(function* <A, E>(
  flags: NatsFlag,
  { identity, lasting, lists = false, writes }: Purpose,
  effect: ClientEffect<A, E>
) {
  const { config, options } = yield* clientOptions(flags)
  yield* requireTrusted(options.project, config, options.nats === undefined ? serverSettings : credentialSettings)
  const until = writes ? untilBrokerLostOrFull : untilBrokerLost
  const client = { ...options, lasting, ...defined({ identity }) }
  const changed = writes ? Effect.tap(effect, () => rememberOwnIds(options)) : effect
  const visited = requireTrusted(options.project, config, ["opencode.url", "runtime"]).pipe(
    Effect.as(options),
    Effect.orElseSucceed(() => undefined)
  )
  return yield* until(changed).pipe(
    Effect.provide(lists ? listingSystem(client) : clientSystem(client)),
    Effect.provideService(VisitedRepository, visited)
  )
})

/**
 * Runs an effect as a client of the repository around the current directory. The effect may run more than once: when
 * another short command owned the broker meanwhile and ends, the broker ends with it.
 */
export const withClient = <A, E>(flags: NatsFlag, effect: ClientEffect<A, E>) =>
  runBriefly(flags, { lasting: false, writes: false }, effect)

/** The same for an effect that only lists runs, sessions and questions. */
export const withLists = <A, E>(flags: NatsFlag, effect: Effect.Effect<A, E, Messenger>) =>
  runBriefly(flags, { lasting: false, writes: false, lists: true }, effect)

/** The same for an effect that stores something: it fails with exit code 3 when the broker is full. */
export const withWritingClient = <A, E>(flags: NatsFlag, effect: ClientEffect<A, E>) =>
  runBriefly(flags, { lasting: false, writes: true }, effect)

/** The same for an effect that removes or repairs what is stored, as the operator. */
export const withOperator = <A, E>(flags: NatsFlag, effect: ClientEffect<A, E>, writes = false) =>
  runBriefly(flags, { lasting: false, writes, identity: "operator" }, effect)

const runBriefly = <A, E>(flags: NatsFlag, purpose: Purpose, effect: ClientEffect<A, E>) =>
  runOnce(flags, purpose, effect).pipe(
    Effect.retry({ while: isBrokerLost, times: maxTakeovers }),
    Effect.mapError((error) =>
      error instanceof QueryFailed ? missing(error.code, error.message, error.hint, error) : error
    )
  )

/**
 * The same for an effect that waits: it starts again whenever the process that ran the broker has ended. `writes`: it
 * stores something, and fails when the broker is full.
 */
export const withLastingClient = <A, E>(flags: NatsFlag, effect: ClientEffect<A, E>, writes = false) =>
  runOnce(flags, { lasting: true, writes }, effect).pipe(Effect.retry({ while: isBrokerLost }))
