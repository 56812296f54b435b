/**
 * One run per working tree: a lease in the broker, held for a run by the host that has the files
 * (docs/design/workspace.md#workspace). The host's heartbeat renews all of its leases, even those from
 * before a restart; when the host is gone, its leases expire. Every write names the
 * revision that it replaces, so of two runs that claim a tree at the same time exactly one gets it.
 */
import { ActorConfig, Broker, Conflict } from "@reprise/actor"
import type { Host, RunId } from "@reprise/protocol"
import { Clock, Context, Effect, Layer, Schedule } from "effect"
import { HostFault, InUse } from "../faults.ts"
import {
  type Claim,
  encodeHeartbeat,
  encodeLease,
  hasExpired,
  heldBy,
  type Lease,
  lastRenewal,
  leaseOf,
  readHeartbeat,
  readLease,
  statusFor
} from "./lease.ts"

/** Lost races for one lease, after which the request is tried again later. */
const maxAttempts = 5

export interface LeaseTimes {
  /** A lease may be taken over when its host has sent no heartbeat for this long. */
  readonly ttlMs: number
  /** Time between two heartbeats of a host. */
  readonly renewMs: number
}
export const leaseTimes: LeaseTimes = { ttlMs: 60_000, renewMs: 15_000 }

export interface LeasesShape {
  /** Takes the lease, or renews it when the run has it already. */
  readonly acquire: (claim: Claim) => Effect.Effect<void, InUse | HostFault>
  /** Fails when another run has the lease. Neither takes nor renews it. */
  readonly check: (claim: Claim) => Effect.Effect<void, InUse | HostFault>
  /** Gives the lease back, if the run has it. A late attempt of the request that took it does not get it again. */
  readonly free: (claim: Claim) => Effect.Effect<void, HostFault>
  /** The same after an attempt that failed: the next attempt of its request may take it. */
  readonly undo: (claim: Claim) => Effect.Effect<void, HostFault>
  /** Gives back every lease that the run has, of whichever host. */
  readonly freeAll: (runId: RunId) => Effect.Effect<void, HostFault>
  /** The runs that hold leases of this host, whichever process took them. */
  readonly runs: Effect.Effect<ReadonlySet<RunId>, HostFault>
  /** Calls this after each lease that this process has taken or given back, before the call returns. */
  readonly listen: (listener: (change: LeaseChange) => Effect.Effect<void>) => Effect.Effect<void>
}

export interface LeaseChange {
  readonly runId: RunId
  /** Whether the run has the lease now. */
  readonly held: boolean
}

type Views = (typeof Broker)["Service"]["views"]

const faultOf = (cause: unknown) => new HostFault({ operation: "the lease of the workspace", cause })
const leasePrefix = "lease"
const leaseKey = (leaseId: string) => `${leasePrefix}.${leaseId}`
const heartbeatKey = (host: string) => `lease-host.${host}`

/** What the run holds by a stored lease. */
const heldIn = (key: string, lease: Lease | undefined, runId: RunId): ReadonlyArray<Claim> =>
  lease === undefined || lease.free || lease.runId !== runId
    ? []
    : [{ leaseId: key.slice(leasePrefix.length + 1), runId, directory: lease.directory }]

/** Tries again after a lost race, on what the winner wrote. */
const retryLostRaces = <E>(claim: Effect.Effect<void, E | Conflict>): Effect.Effect<void, E | HostFault> =>
  claim.pipe(
    Effect.retry({ times: maxAttempts, while: (error) => error instanceof Conflict }),
    Effect.mapError((error) => (error instanceof Conflict ? faultOf(error) : error))
  )

/** Sends the host's heartbeat, now and at intervals until the scope closes. */
const keepAlive = Effect.fnUntraced(function* (views: Views, host: Host, renewMs: number) {
  const beat = Effect.flatMap(Clock.currentTimeMillis, (nowMs) =>
    views.put(heartbeatKey(host), encodeHeartbeat({ aliveAt: new Date(nowMs).toISOString() }))
  ).pipe(Effect.catch((cause) => Effect.logWarning(`leases were not renewed: ${cause.message}`)))
  yield* beat
  yield* beat.pipe(Effect.schedule(Schedule.spaced(renewMs)), Effect.forkScoped)
})

const make = Effect.fnUntraced(function* (views: Views, host: Host, { renewMs, ttlMs }: LeaseTimes) {
  const load = (leaseId: string) =>
    views.get(leaseKey(leaseId)).pipe(
      Effect.mapError(faultOf),
      Effect.map((stored) => ({ revision: stored?.revision ?? 0, lease: readLease(stored?.value) }))
    )

  const lastHeartbeatOf = (name: string) =>
    views.get(heartbeatKey(name)).pipe(
      Effect.mapError(faultOf),
      Effect.map((stored) => readHeartbeat(stored?.value))
    )

  const store = (claim: Claim, nowMs: number, revision: number, free: boolean) =>
    views
      .put(leaseKey(claim.leaseId), encodeLease(leaseOf(claim, host, nowMs, free)), revision)
      .pipe(Effect.catchTag(["BrokerFault", "BrokerFull"], (cause) => Effect.fail(faultOf(cause))))

  /** The lease's revision, unless another run has it and its host is alive. */
  const requireAvailable = Effect.fnUntraced(function* (claim: Claim, nowMs: number) {
    const { lease, revision } = yield* load(claim.leaseId)
    const status = statusFor(claim, lease)
    if (status._tag === "GivenBack")
      return yield* faultOf(new Error("its request is over, and the lease was given back"))
    if (status._tag !== "OfOther") return revision
    const { directory, host: holder, runId } = status.lease
    const renewedAt = lastRenewal(status.lease, yield* lastHeartbeatOf(holder))
    return hasExpired(renewedAt, nowMs, ttlMs)
      ? revision
      : yield* new InUse({ directory, runId, host: holder, renewedAt })
  })

  const take = Effect.fnUntraced(function* (claim: Claim) {
    const nowMs = yield* Clock.currentTimeMillis
    const revision = yield* requireAvailable(claim, nowMs)
    yield* store(claim, nowMs, revision, false)
  })

  const giveBack = Effect.fnUntraced(function* (claim: Claim, isOver: boolean) {
    const { lease, revision } = yield* load(claim.leaseId)
    if (statusFor(claim, lease)._tag !== "Own") return
    const requestId = isOver ? lease?.requestId : undefined
    yield* store({ ...claim, requestId }, yield* Clock.currentTimeMillis, revision, true)
  })

  const leases = views.list(leasePrefix).pipe(Effect.mapError(faultOf))
  const runs = Effect.map(leases, (entries) => new Set(entries.flatMap(({ value }) => heldBy(readLease(value), host))))

  const listeners: Array<(change: LeaseChange) => Effect.Effect<void>> = []
  const tell = ({ runId }: Claim, held: boolean) =>
    Effect.forEach(listeners, (listener) => listener({ runId, held }), { discard: true })

  const givingBack = (isOver: boolean) => (claim: Claim) =>
    Effect.andThen(retryLostRaces(giveBack(claim, isOver)), tell(claim, false))
  const free = givingBack(true)

  const freeAll = Effect.fnUntraced(function* (runId: RunId) {
    const held = (yield* leases).flatMap(({ key, value }) => heldIn(key, readLease(value), runId))
    yield* Effect.forEach(held, free, { discard: true })
  })

  yield* keepAlive(views, host, renewMs)
  return Leases.of({
    acquire: (claim) => Effect.andThen(retryLostRaces(take(claim)), tell(claim, true)),
    check: (claim) => Effect.asVoid(Effect.flatMap(Clock.currentTimeMillis, (nowMs) => requireAvailable(claim, nowMs))),
    free,
    undo: givingBack(false),
    freeAll,
    runs,
    listen: (listener) => Effect.sync(() => void listeners.push(listener))
  })
})

export class Leases extends Context.Service<Leases, LeasesShape>()("workspace/Leases") {
  static readonly layerWith = (times: LeaseTimes) =>
    Layer.effect(
      Leases,
      Effect.gen(function* () {
        const broker = yield* Broker
        const { host } = yield* ActorConfig
        return yield* make(broker.views, host, times)
      })
    )
  static readonly layer = Leases.layerWith(leaseTimes)
}
