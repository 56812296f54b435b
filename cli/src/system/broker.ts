/** The broker of a command: this repository's, started unless another process runs it, or a NATS server at a URL. */
import { Broker } from "@reprise/actor"
import { remoteConnection } from "@reprise/actor/main"
import {
  attach,
  connectionTo,
  EmbeddedServer,
  ensureStreams,
  hasOwner,
  type Identity,
  isLocked,
  Nats,
  NoOwner
} from "@reprise/nats"
import { Context, Effect, Layer, Predicate, Schedule, Schema } from "effect"
import type { Settings } from "../config/settingsTable.ts"
import { showingStep } from "../views/live/Display.ts"
import { nameWhatIsFull, requireQuota, type Store, untilFull, wasFull } from "./brokerQuota.ts"
import { readable } from "./brokerTrouble.ts"
import type { SystemOptions } from "./System.ts"

/** The process that ran the broker, or did the work, has ended. Everything stored is kept; another process may continue. */
export class BrokerLost extends Schema.TaggedError<BrokerLost>()("BrokerLost", { directory: Schema.String }) {
  override get message() {
    return `The Reprise process that worked in ${this.directory} has ended. No data is lost: run the command again.`
  }
}

export const isBrokerLost = (error: unknown): error is BrokerLost => error instanceof BrokerLost

/** The role of this process: whether it owns the broker, and whether it does the work. */
export class BrokerRole extends Context.Service<
  BrokerRole,
  {
    /** This process runs the broker, so it must run the actors too: no other process does. */
    readonly owns: boolean
    /** This process does the work. */
    readonly works: boolean
    /** Fails with a `CliFailure` when nothing more can be stored. */
    readonly requireQuota: Effect.Effect<void, unknown>
    /** Never succeeds; fails when the broker is gone for good. */
    readonly lost: Effect.Effect<never, unknown>
    /** Never succeeds; fails with a `CliFailure` when the broker is full. */
    readonly full: Effect.Effect<never, unknown>
    /** How long an unanswered query is repeated: the process that answers may be starting or ending. */
    readonly patienceMs: number
  }
>()("cli/BrokerRole") {}

/** How often a short command starts again because the process that briefly owned the broker has ended. */
export const maxTakeovers = 10

const isUnanswered = (error: unknown): boolean => Predicate.hasProperty(error, "code") && error.code === "not-running"

/** Runs the effect while its broker is there, again as long as nobody answers a query of it and patience lasts. */
export const untilBrokerLost = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, unknown, R | BrokerRole> =>
  Effect.flatMap(BrokerRole, ({ lost, patienceMs }) => {
    const schedule = Schedule.spaced("250 millis").pipe(Schedule.upTo({ duration: `${patienceMs} millis` }))
    const isRepeated = (error: unknown) => patienceMs > 0 && isUnanswered(error)
    return Effect.raceFirst(Effect.retry(effect, { while: isRepeated, schedule }), lost).pipe(Effect.mapError(readable))
  })

/** The same for an effect that stores something: fails with exit code 3 as soon as the broker cannot store more. */
export const untilBrokerLostOrFull = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, unknown, R | BrokerRole> =>
  Effect.flatMap(BrokerRole, ({ full, requireQuota }) =>
    Effect.andThen(requireQuota, Effect.raceFirst(untilBrokerLost(effect), full))
  )

/** How to reach a server that others run. */
export const remoteSettings = ({ nats }: Settings, url: string, identity: Identity) => {
  const { caFile, credentials, nkeySeedFile, prefix } = nats
  return {
    url,
    name: identity === "person" || identity === "operator" ? `reprise-${identity}` : identity,
    identity,
    prefix,
    ...(credentials === undefined ? {} : { credentials }),
    ...(nkeySeedFile === undefined ? {} : { seedFile: nkeySeedFile }),
    ...(caFile === undefined ? {} : { caFile })
  }
}

const ownBroker = Effect.fnUntraced(function* ({ project, settings }: SystemOptions) {
  const { port, prefix, storeMaxBytes } = settings.nats
  const server = yield* EmbeddedServer.make({
    directory: project.directory,
    ...(storeMaxBytes === undefined ? {} : { storageBytes: storeMaxBytes }),
    ...(port === 0 ? {} : { port })
  })
  // The server may be killed before anybody is connected; it is restarted then, until that happens too often.
  const nats = yield* Nats.make(connectionTo(server.endpoint, { name: "reprise" })).pipe(
    Effect.retry({ while: (error) => error._tag === "BrokerUnreachable", schedule: Schedule.spaced("100 millis") }),
    Effect.raceFirst(server.failure)
  )
  const onNats = Effect.provideService(Nats, nats)
  const store = { prefix, directory: project.directory }
  const storage = { storageBytes: server.storageBytes, resize: storeMaxBytes !== undefined }
  yield* ensureStreams(prefix, storage).pipe(onNats)
  return Context.make(Nats, nats).pipe(
    Context.add(BrokerRole, {
      owns: true,
      works: false,
      requireQuota: onNats(requireQuota(store)),
      lost: server.failure,
      full: onNats(untilFull(store)),
      patienceMs: 0
    })
  )
})

/** Whoever runs the broker looks whether it is full; a client learns it when it stores something. */
const client = { owns: false, works: false, requireQuota: Effect.void, full: Effect.never } as const

/** How long a client waits while the process that runs the broker is busy: starting, ending, or starting its server again. */
const ownerPatienceMs = 30_000

const attachToBroker = Effect.fnUntraced(function* ({ project: { directory } }: SystemOptions) {
  const endpoint = yield* attach(directory).pipe(
    Effect.mapError((error) => (error instanceof NoOwner ? new BrokerLost({ directory }) : error))
  )
  const nats = yield* Nats.make(connectionTo(endpoint, { name: "reprise-client" })).pipe(
    Effect.catch((error) =>
      Effect.flatMap(hasOwner(directory), (owner) => Effect.fail(owner ? error : new BrokerLost({ directory })))
    ),
    // The owner may just be starting its server again, under the same address.
    Effect.retry({
      while: (error) => error._tag === "BrokerUnreachable",
      schedule: Schedule.spaced("100 millis").pipe(Schedule.upTo({ duration: `${ownerPatienceMs} millis` }))
    })
  )
  // An owner restarts its server under the same address; without an owner no server comes back.
  const lost = Effect.gen(function* () {
    return (yield* nats.status) !== "connected" && !(yield* hasOwner(directory))
  }).pipe(
    Effect.repeat({ until: (gone) => gone, schedule: Schedule.spaced("200 millis") }),
    Effect.andThen(new BrokerLost({ directory }))
  )
  return Context.make(Nats, nats).pipe(Context.add(BrokerRole, { ...client, lost, patienceMs: ownerPatienceMs }))
})

/** Fails when the process that does the work of this directory has ended, whoever runs the broker. */
export const untilWorkerEnds = (directory: string): Effect.Effect<never, unknown> =>
  isLocked(directory, "host").pipe(
    Effect.repeat({ until: (locked) => !locked, schedule: Schedule.spaced("1 second") }),
    Effect.andThen(new BrokerLost({ directory }))
  )

export interface LocalBroker {
  /** Wait this long for an owner that only looks something up, before becoming its client. */
  readonly waitForOwnerMs: number
}

/** The broker of this repository. */
export const localBroker = (options: SystemOptions, { waitForOwnerMs }: LocalBroker) =>
  Layer.effectContext(
    ownBroker(options).pipe(
      Effect.retry({
        while: (error) => error._tag === "AlreadyOwned",
        schedule: Schedule.spaced("50 millis").pipe(Schedule.upTo({ duration: `${waitForOwnerMs} millis` }))
      }),
      Effect.catchTag("AlreadyOwned", () => attachToBroker(options)),
      // The owner ended between the two attempts: this process may own the broker now.
      Effect.retry({ while: isBrokerLost, times: maxTakeovers }),
      showingStep("Starting the broker")
    )
  )

/** The broker's role, which also learns that the broker is full when a message of this process could not be stored. */
export const noticingFull = (store: Store) =>
  Layer.effect(
    BrokerRole,
    Effect.gen(function* () {
      const role = yield* BrokerRole
      const broker = yield* Broker
      const nats = yield* Nats
      const noticed = Effect.flatMap(broker.full, (error) =>
        Effect.andThen(Effect.provideService(nameWhatIsFull(store), Nats, nats), wasFull(error))
      )
      return { ...role, full: Effect.raceFirst(role.full, noticed) }
    })
  )

const remoteRole = Layer.effect(
  BrokerRole,
  Effect.map(Nats, ({ denied }) => ({ ...client, lost: denied, patienceMs: 5_000 }))
)

/** A server that others run. Lost is also a broker that does not let this command do what it has to do. */
export const remoteBroker = ({ identity, settings }: SystemOptions, url: string) =>
  Layer.provideMerge(
    remoteRole,
    remoteConnection({ ...remoteSettings(settings, url, identity ?? "person"), host: "local" })
  )
