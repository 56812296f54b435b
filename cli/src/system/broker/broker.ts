/** How a command sees its broker, whoever runs it: its role there, the loss of it, and a NATS server at a URL. */

import { Broker, BrokerFault, QueryFailed, remoteConnection } from "@reprise/actor"
import { type Identity, isLocked, Nats } from "@reprise/nats"
import { defined } from "@reprise/protocol"
import { Context, Effect, Layer, Predicate, Schedule } from "effect"
import type { Settings } from "../../config/settingsTable.ts"
import { CliFailure } from "../../terminal/CliFailure.ts"
import type { SystemOptions } from "../SystemOptions.ts"
import { BrokerLost } from "./BrokerLost.ts"
import { nameWhatIsFull, type Store, wasFull } from "./brokerQuota.ts"
import { readable } from "./brokerTrouble.ts"
import { ServiceBrokers, ServiceConnections } from "./ServiceBrokers.ts"

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

/** A failure for people has the query's as its cause. */
const isUnanswered = (error: unknown): boolean => {
  const failed = error instanceof CliFailure ? error.cause : error
  return failed instanceof QueryFailed && failed.code === "not-running"
}

/** The broker was killed, or has ended, before it answered. */
const isUnfinished = (error: unknown): boolean =>
  error instanceof BrokerFault && Predicate.isTagged(error.cause, "RequestTimedOut")

/** Who ends the broker in order ends its server first: only a moment later is it known that no other comes back. */
const lostWithinMs = 2_000

/** Fails as late as that: whoever races it with the loss of the broker learns of the loss. */
const failLater = (error: unknown) => Effect.delay(Effect.fail(error), lostWithinMs)

/**
 * Runs the effect while its broker is there, again as long as nobody answers a query of it, or its broker was away, and
 * patience lasts.
 */
export const untilBrokerLost = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, unknown, R | BrokerRole> =>
  Effect.flatMap(BrokerRole, ({ lost, patienceMs }) => {
    const schedule = Schedule.spaced("250 millis").pipe(Schedule.upTo({ duration: `${patienceMs} millis` }))
    const isRepeated = (error: unknown) => patienceMs > 0 && (isUnanswered(error) || isUnfinished(error))
    return Effect.retry(effect, { while: isRepeated, schedule }).pipe(
      Effect.catchIf(isUnfinished, failLater),
      Effect.raceFirst(lost),
      Effect.mapError(readable)
    )
  })

/** The same for an effect that stores something: fails with exit code 3 as soon as the broker cannot store more. */
export const untilBrokerLostOrFull = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, unknown, R | BrokerRole> =>
  Effect.flatMap(BrokerRole, ({ full, requireQuota }) =>
    Effect.andThen(requireQuota, Effect.raceFirst(untilBrokerLost(effect), full))
  )

/** Services that could not start because their broker has ended meanwhile are lost with it: they are started again. */
export const lostWithBroker = <A, E, R>(services: Layer.Layer<A, E, R>): Layer.Layer<A, unknown, R | BrokerRole> =>
  Layer.catch(services, (error) =>
    Layer.effectContext(
      isUnfinished(error) ? BrokerRole.use(({ lost }) => Effect.raceFirst(lost, failLater(error))) : Effect.fail(error)
    )
  )

/** How to reach a server that others run. */
export const remoteSettings = ({ nats }: Settings, url: string, identity: Identity) => {
  const { caFile, credentials, nkeySeedFile, prefix } = nats
  return {
    url,
    name: identity === "person" || identity === "operator" ? `reprise-${identity}` : identity,
    identity,
    prefix,
    ...defined({ credentials, seedFile: nkeySeedFile, caFile })
  }
}

/** Who only uses the broker learns that it is full when it stores something; whoever runs it looks. */
export const client = { owns: false, works: false, requireQuota: Effect.void, full: Effect.never } as const

/** Fails when the process that does the work of this directory has ended, whoever runs the broker. */
export const untilWorkerEnds = (directory: string): Effect.Effect<never, unknown> =>
  isLocked(directory, "host").pipe(
    Effect.repeat({ until: (locked) => !locked, schedule: Schedule.spaced("1 second") }),
    Effect.andThen(new BrokerLost({ directory }))
  )

/** The broker's role, which also learns that the broker is full when a message of this process could not be stored. */
export const noticingFull = (store: Store) =>
  Layer.effect(
    BrokerRole,
    Effect.gen(function* () {
      const role = yield* BrokerRole
      const broker = yield* Broker
      const nats = yield* Nats
      const services = yield* ServiceBrokers
      const noticed = Effect.flatMap(Effect.raceFirst(broker.full, services.full), (error) =>
        Effect.andThen(Effect.provideService(nameWhatIsFull(store), Nats, nats), wasFull(error))
      )
      return { ...role, full: Effect.raceFirst(role.full, noticed) }
    })
  )

/** All services of this process, if it runs them, are the same user there. */
const remoteRole = Layer.effectContext(
  Effect.map(Nats, (nats) =>
    Context.make(BrokerRole, { ...client, lost: nats.denied, patienceMs: 5_000 }).pipe(
      Context.add(ServiceConnections, { connect: () => Effect.succeed(nats) })
    )
  )
)

/** A server that others run. Lost is also a broker that does not let this command do what it has to do. */
export const remoteBroker = ({ identity, settings }: SystemOptions, url: string) =>
  Layer.provideMerge(remoteRole, remoteConnection(remoteSettings(settings, url, identity ?? "person")))
