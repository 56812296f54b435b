/**
 * The broker of this repository: started by this process, unless another one runs it. The command is a person there, or
 * the operator. Services and the operator have keys that follow from this machine's key, so a process that joins has the
 * same ones, and nothing is handed over.
 */
import {
  attach,
  connectionTo,
  EmbeddedServer,
  type Endpoint,
  ensureStreams,
  hasOwner,
  type Identity,
  isSameServer,
  Nats,
  type NatsShape,
  NoOwner,
  readEndpoint
} from "@reprise/nats"
import { defined, Host, ServiceName } from "@reprise/protocol"
import { Context, Effect, Fiber, Layer, Option, Schedule, Scope } from "effect"
import { machineSecret } from "../../project/machineSecret.ts"
import { type CliFailure, missing } from "../../terminal/CliFailure.ts"
import { color, say } from "../../terminal/Printer.ts"
import { showingStep } from "../../views/live/Display.ts"
import { makeViewKeeper } from "../lookUp/storedViews.ts"
import { hostName } from "../names.ts"
import type { SystemOptions } from "../SystemOptions.ts"
import { BrokerLost, isBrokerLost } from "./BrokerLost.ts"
import { BrokerRole, client, maxTakeovers } from "./broker.ts"
import { requireQuota, untilFull } from "./brokerQuota.ts"
import { ServiceConnections } from "./ServiceBrokers.ts"

const secretOfBroker = machineSecret("embedded broker")

/** The server may be killed, or its owner may be starting it again: then it comes back under the same address. */
const untilReachable = Schedule.spaced("100 millis")

/** The hosts that may do work here: whoever joins usually has the same environment. */
const hostsOf = ({ host }: SystemOptions) =>
  Effect.map(hostName, (name) => [...new Set(["local", name, host ?? name])].map((one) => Host.make(one)))

/** Connects all services side by side, while the streams are looked at; they are closed side by side, too. */
const connectEarly = Effect.fnUntraced(function* <E>(
  connect: (as: ServiceName) => Effect.Effect<NatsShape, E, Scope.Scope>
) {
  const together = yield* Scope.fork(yield* Effect.scope, "parallel")
  const connecting = yield* Effect.forEach(ServiceName.literals, (service) =>
    Effect.map(
      Effect.forkIn(Scope.provide(connect(service), together), together),
      (fiber) => [service, Fiber.join(fiber)] as const
    )
  )
  const connected = new Map(connecting)
  return { connect: (service: ServiceName) => connected.get(service) ?? connect(service) }
})

/** How long a command waits while the process that runs the broker is busy: starting, ending, or starting its server again. */
const ownerPatienceMs = 30_000

const ownBroker = Effect.fnUntraced(function* (options: SystemOptions) {
  const { identity = "person", project, settings } = options
  const { port, prefix, storeMaxBytes } = settings.nats
  const secret = yield* secretOfBroker
  const viewKeeper = makeViewKeeper(options)
  const server = yield* EmbeddedServer.make({
    directory: project.directory,
    whenOwned: viewKeeper.begin,
    secret,
    tenant: { prefix, hosts: yield* hostsOf(options) },
    locate: { onProgress: (message) => Effect.sync(() => say(color.dim(message))) },
    ...defined({ storageBytes: storeMaxBytes }),
    ...(port === 0 ? {} : { port })
  })
  // The server may be killed before anybody is connected; it is restarted then, until that happens too often.
  const connect = (as: Identity) =>
    Nats.make(connectionTo(server.endpoint, { name: `reprise-${as}`, identity: as, secret })).pipe(
      Effect.retry({ while: (error) => error._tag === "BrokerUnreachable", schedule: untilReachable }),
      Effect.raceFirst(server.failure)
    )
  const storage = { storageBytes: server.storageBytes, resize: storeMaxBytes !== undefined }
  const prepared = Effect.scoped(
    Effect.flatMap(connect("operator"), (operator) =>
      Effect.provideService(ensureStreams(prefix, storage), Nats, operator)
    )
  )
  const services = yield* connectEarly(connect)
  const [nats] = yield* Effect.all([connect(identity), prepared], { concurrency: 2 })
  yield* Effect.addFinalizer(() => viewKeeper.read(connect("operator")))
  const onNats = Effect.provideService(Nats, nats)
  const store = { prefix, directory: project.directory }
  return Context.make(Nats, nats).pipe(
    Context.add(ServiceConnections, services),
    Context.add(BrokerRole, {
      owns: true,
      works: false,
      requireQuota: onNats(requireQuota(store)),
      lost: Effect.raceFirst(server.failure, nats.denied),
      full: onNats(untilFull(store)),
      // After the server was killed, each service of this process is connected again at a moment of its own.
      patienceMs: ownerPatienceMs
    })
  )
})

const againHint = (endpoint: Endpoint, change: string) =>
  `${change}, or end process ${endpoint.ownerPid}; then run the command again.`

/** Fails if the broker's owner was started for other settings: its server would refuse what this command does. */
const requireSameSettings = Effect.fnUntraced(function* (
  { project: { directory }, host = "local", settings }: SystemOptions,
  endpoint: Endpoint,
  works: boolean
) {
  const { access } = endpoint
  if (access === undefined) return
  const { prefix } = settings.nats
  if (access.prefix !== prefix) {
    return yield* missing(
      "other-prefix",
      `The broker of ${directory} runs with nats.prefix '${access.prefix}', and this command has '${prefix}'.`,
      againHint(endpoint, "Set the same prefix")
    )
  }
  if (works && !access.hosts.some((known) => known === host)) {
    return yield* missing(
      "other-host",
      `The broker of ${directory} runs for the hosts ${access.hosts.join(", ")}, and this command works as '${host}'.`,
      againHint(endpoint, "Set REPRISE_HOST to one of them")
    )
  }
})

/** The process that ran the server of this endpoint has ended, even if another one runs the broker by now. */
const isGone = Effect.fnUntraced(function* (directory: string, endpoint: Endpoint) {
  if (!(yield* hasOwner(directory))) return true
  const now = yield* readEndpoint(directory)
  return Option.isSome(now) && !isSameServer(now.value, endpoint)
})

const otherKey = (directory: string, endpoint: Endpoint, as: Identity): CliFailure =>
  missing(
    "other-key",
    `The broker of ${directory} does not know this machine's key, by which this command would be '${as}'.`,
    againHint(endpoint, "Use the configuration folder (XDG_CONFIG_HOME) with which it was started")
  )

const attachToBroker = Effect.fnUntraced(function* (options: SystemOptions, works: boolean) {
  const { identity = "person", project } = options
  const { directory } = project
  const endpoint = yield* attach(directory).pipe(
    Effect.mapError((error) => (error instanceof NoOwner ? new BrokerLost({ directory }) : error))
  )
  yield* requireSameSettings(options, endpoint, works)
  const optionsAs = (as: Identity) => {
    const name = `reprise-client-${as}`
    // For a person, what endpoint.json says is enough.
    return as === "person"
      ? Effect.succeed(connectionTo(endpoint, { name }))
      : Effect.map(secretOfBroker, (secret) => connectionTo(endpoint, { name, identity: as, secret }))
  }
  const connect = (as: Identity) =>
    Effect.flatMap(optionsAs(as), Nats.make).pipe(
      Effect.catch((error) =>
        Effect.flatMap(isGone(directory, endpoint), (gone) =>
          Effect.fail(
            gone
              ? new BrokerLost({ directory })
              : error._tag === "BrokerRefused"
                ? otherKey(directory, endpoint, as)
                : error
          )
        )
      ),
      Effect.retry({
        while: (error) => error._tag === "BrokerUnreachable",
        schedule: untilReachable.pipe(Schedule.upTo({ duration: `${ownerPatienceMs} millis` }))
      })
    )
  const nats = yield* connect(identity)
  // An owner restarts its server under the same address; without that owner no such server comes back.
  const lost = Effect.gen(function* () {
    return (yield* nats.status) !== "connected" && (yield* isGone(directory, endpoint))
  }).pipe(
    Effect.repeat({ until: (gone) => gone, schedule: Schedule.spaced("200 millis") }),
    Effect.andThen(new BrokerLost({ directory }))
  )
  return Context.make(Nats, nats).pipe(
    Context.add(ServiceConnections, { connect }),
    Context.add(BrokerRole, { ...client, lost: Effect.raceFirst(lost, nats.denied), patienceMs: ownerPatienceMs })
  )
})

export interface LocalBroker {
  /** Wait this long for an owner that only looks something up, before becoming its client. */
  readonly waitForOwnerMs: number
  /** This process does the work, whoever runs the broker. */
  readonly works: boolean
  /** Done when no other process runs the broker, before it starts. */
  readonly whenOwning?: Effect.Effect<void>
}

/** The broker of a process that runs it already; fails with `BrokerLost` where none does. */
export const runningBroker = (options: SystemOptions) => Layer.effectContext(attachToBroker(options, false))

/** Runs the broker, unless another process does. */
const ownOrAttach = (options: SystemOptions, { waitForOwnerMs, whenOwning = Effect.void, works }: LocalBroker) =>
  Effect.andThen(whenOwning, ownBroker(options)).pipe(
    Effect.retry({
      while: (error) => error._tag === "AlreadyOwned",
      schedule: Schedule.spaced("50 millis").pipe(Schedule.upTo({ duration: `${waitForOwnerMs} millis` }))
    }),
    Effect.catchTag("AlreadyOwned", () => attachToBroker(options, works))
  )

export const localBroker = (options: SystemOptions, local: LocalBroker) => {
  const own = ownOrAttach(options, local)
  // A command that would not wait looks for another process first, which costs less than to try to be the owner.
  const found =
    local.waitForOwnerMs > 0 ? own : Effect.catchIf(attachToBroker(options, local.works), isBrokerLost, () => own)
  return Layer.effectContext(
    found.pipe(
      // The owner ended between the two attempts: this process may own the broker now.
      Effect.retry({ while: isBrokerLost, times: maxTakeovers }),
      showingStep("Starting the broker")
    )
  )
}
