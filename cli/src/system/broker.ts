/** The broker of a command: the one of this repository, started when no other process runs it, or a server that is named. */
import { remoteConnection } from "@reprise/actor/main"
import { attach, connectionTo, EmbeddedServer, ensureStreams, hasOwner, isLocked, Nats, NoOwner } from "@reprise/nats"
import { Context, Effect, Layer, Predicate, Schedule, Schema } from "effect"
import { type Config, get } from "../config/Config.ts"
import { requireRoom, untilFull } from "./brokerQuota.ts"
import type { SystemOptions } from "./System.ts"

/** The process that ran the broker, or did the work, has ended. What was stored is kept: another process may do it now. */
export class BrokerLost extends Schema.TaggedError<BrokerLost>()("BrokerLost", { directory: Schema.String }) {
  override get message() {
    return `The Reprise that worked in ${this.directory} has ended. Nothing is lost: run the command again.`
  }
}

/** Whose broker it is. */
export class Tenure extends Context.Service<
  Tenure,
  {
    /** This process runs it; then somebody must decide here, for nobody else does. */
    readonly mine: boolean
    /** This process does the work. */
    readonly works: boolean
    /** Fails with a `CliFailure` when nothing more can be stored. */
    readonly room: Effect.Effect<void, unknown>
    /** Never succeeds; fails when the broker is gone for good, or full. */
    readonly lost: Effect.Effect<never, unknown>
  }
>()("cli/Tenure") {}

const untilLostMs = 5_000

/** How often a short command begins anew because another one that ran the broker for a moment has ended. */
export const takeovers = 10

const isUnanswered = (error: unknown): boolean => Predicate.hasProperty(error, "code") && error.code === "not-running"

/**
 * The effect as long as its broker is there. That nobody answers may be the first sign of the end of the process that
 * did the work: that is waited for before it counts as a failure.
 */
export const whileServed = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, unknown, R | Tenure> =>
  Effect.flatMap(Tenure, ({ lost, mine }) => {
    const patient = Effect.tapError(effect, (error) =>
      !mine && isUnanswered(error) ? Effect.sleep(`${untilLostMs} millis`) : Effect.void
    )
    return Effect.raceFirst(patient, lost)
  })

/** The same, if the broker has room. */
export const duringTenure = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, unknown, R | Tenure> =>
  Effect.andThen(
    Effect.flatMap(Tenure, ({ room }) => room),
    whileServed(effect)
  )

/** How to reach a server that others run. */
export const remoteSettings = (config: Config, url: string, name: string) => {
  const credentials = get<string | undefined>(config, "nats.credentials")
  return {
    url,
    name,
    prefix: get<string>(config, "nats.prefix"),
    ...(credentials === undefined ? {} : { credentials })
  }
}

const owned = Effect.fnUntraced(function* ({ config, project }: SystemOptions) {
  const port = get<number>(config, "nats.port")
  const quota = get<number | undefined>(config, "nats.storeMaxBytes")
  const server = yield* EmbeddedServer.make({
    directory: project.directory,
    ...(quota === undefined ? {} : { storageBytes: quota }),
    ...(port === 0 ? {} : { port })
  })
  const nats = yield* Nats.make(connectionTo(server.endpoint, { name: "reprise" }))
  const prefix = get<string>(config, "nats.prefix")
  const onNats = Effect.provideService(Nats, nats)
  yield* ensureStreams(prefix, { storageBytes: server.storageBytes, resize: quota !== undefined }).pipe(onNats)
  const lost = Effect.raceFirst(server.failure, onNats(untilFull(prefix)))
  return Context.make(Nats, nats).pipe(
    Context.add(Tenure, { mine: true, works: false, room: onNats(requireRoom(prefix)), lost })
  )
})

const attached = Effect.fnUntraced(function* ({ project: { directory } }: SystemOptions) {
  const endpoint = yield* attach(directory).pipe(
    Effect.mapError((error) => (error instanceof NoOwner ? new BrokerLost({ directory }) : error))
  )
  const nats = yield* Nats.make(connectionTo(endpoint, { name: "reprise-client" })).pipe(
    Effect.catch((error) =>
      Effect.flatMap(hasOwner(directory), (owner) => Effect.fail(owner ? error : new BrokerLost({ directory })))
    )
  )
  // A server that its owner restarts comes back under the same address; without an owner nothing does.
  const lost = Effect.gen(function* () {
    return (yield* nats.status) !== "connected" && !(yield* hasOwner(directory))
  }).pipe(
    Effect.repeat({ until: (gone) => gone, schedule: Schedule.spaced("200 millis") }),
    Effect.andThen(new BrokerLost({ directory }))
  )
  return Context.make(Nats, nats).pipe(Context.add(Tenure, { mine: false, works: false, room: Effect.void, lost }))
})

/** Fails when the process that does the work of this directory has ended, whoever runs the broker. */
export const untilUnworked = (directory: string): Effect.Effect<never, unknown> =>
  isLocked(directory, "host").pipe(
    Effect.repeat({ until: (locked) => !locked, schedule: Schedule.spaced("1 second") }),
    Effect.andThen(new BrokerLost({ directory }))
  )

export interface LocalBroker {
  /** Wait this long for an owner that only looks something up, before becoming its client. */
  readonly patienceMs: number
}

/** The broker of this repository. */
export const localBroker = (options: SystemOptions, { patienceMs }: LocalBroker) =>
  Layer.effectContext(
    owned(options).pipe(
      Effect.retry({
        while: (error) => error._tag === "AlreadyOwned",
        schedule: Schedule.spaced("50 millis").pipe(Schedule.upTo({ duration: `${patienceMs} millis` }))
      }),
      Effect.catchTag("AlreadyOwned", () => attached(options)),
      // Its owner ended just now: this process may run it.
      Effect.retry({ while: (error) => error instanceof BrokerLost, times: takeovers })
    )
  )

/** A server that others run. */
export const remoteBroker = ({ config }: SystemOptions, url: string) =>
  remoteConnection({ ...remoteSettings(config, url, "reprise-client"), host: "local" }).pipe(
    Layer.merge(Layer.succeed(Tenure, { mine: false, works: false, room: Effect.void, lost: Effect.never }))
  )
