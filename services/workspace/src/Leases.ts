/**
 * One run per working tree: a lease in the broker, held for a run by the host that has the files (workspace: Locks).
 * The host's service says now and then that it lives, which renews all of its leases, also those from before a restart;
 * when it is gone they run out. Every write names the revision it replaces, so of two runs that want a tree at once one
 * gets it.
 */
import { ActorConfig, Broker } from "@reprise/actor"
import { type Host, RunId } from "@reprise/protocol"
import { Clock, Context, Effect, Layer, Result, Schedule, Schema } from "effect"
import { HostFault, InUse } from "./faults.ts"

const Lease = Schema.fromJsonString(
  Schema.Struct({
    runId: RunId,
    host: Schema.String,
    directory: Schema.String,
    /** ISO 8601 UTC. */
    renewedAt: Schema.String,
    /** Given back: anyone may take it. */
    free: Schema.Boolean
  })
)
type Lease = typeof Lease.Type

const decode = Schema.decodeUnknownResult(Lease)
const encode = Schema.encodeSync(Lease)

/** When a host said last that it lives, ISO 8601 UTC. */
const Sign = Schema.fromJsonString(Schema.Struct({ aliveAt: Schema.String }))
const decodeSign = Schema.decodeUnknownResult(Sign)
const encodeSign = Schema.encodeSync(Sign)

/** Lost races for one lease after which the request is tried again later. */
const maxAttempts = 5
const group = "lease"

export interface LeaseTimes {
  /** A lease whose host gave no sign for this long may be taken over. */
  readonly ttlMs: number
  /** A host gives a sign each time. */
  readonly renewMs: number
}
export const leaseTimes: LeaseTimes = { ttlMs: 60_000, renewMs: 15_000 }

interface Claim {
  readonly leaseId: string
  readonly runId: RunId
  /** Shown to whoever is refused. */
  readonly directory: string
}

export interface LeasesShape {
  /** Takes the lease, or renews it when the run has it already. */
  readonly acquire: (claim: Claim) => Effect.Effect<void, InUse | HostFault>
  /** Fails when another run has taken the lease. Neither takes nor renews it. */
  readonly check: (claim: Claim) => Effect.Effect<void, InUse | HostFault>
  /** Gives it back, if the run has it. */
  readonly free: (claim: Claim) => Effect.Effect<void, HostFault>
}

type Views = (typeof Broker)["Service"]["views"]

const make = Effect.fnUntraced(function* (views: Views, host: Host, times: LeaseTimes) {
  const keyOf = (leaseId: string) => `${group}.${leaseId}`
  const fault = (cause: unknown) => new HostFault({ operation: "the lease of the workspace", cause })

  /** A value that cannot be read counts as none. */
  const read = (text: string): Lease | undefined => Result.getOrUndefined(decode(text))

  const load = (leaseId: string) =>
    views.get(keyOf(leaseId)).pipe(
      Effect.mapError(fault),
      Effect.map((stored) => ({
        revision: stored?.revision ?? 0,
        lease: stored === undefined ? undefined : read(stored.value)
      }))
    )

  const signOf = (name: string) => `${group}-host.${name}`

  /** When the lease was renewed last: by its run, or by a sign of its host. */
  const renewedAt = (lease: Lease) =>
    views.get(signOf(lease.host)).pipe(
      Effect.mapError(fault),
      Effect.map((stored) => {
        const sign = stored === undefined ? undefined : Result.getOrUndefined(decodeSign(stored.value))
        return sign !== undefined && sign.aliveAt > lease.renewedAt ? sign.aliveAt : lease.renewedAt
      })
    )

  const otherHolder = Effect.fnUntraced(function* (lease: Lease | undefined, claim: Claim, nowMs: number) {
    if (lease === undefined || lease.free || lease.runId === claim.runId) return undefined
    const seenAt = yield* renewedAt(lease)
    if (nowMs - Date.parse(seenAt) > times.ttlMs) return undefined
    return new InUse({ directory: lease.directory, runId: lease.runId, host: lease.host, renewedAt: seenAt })
  })

  const write = (claim: Claim, free: boolean, nowMs: number, revision: number) =>
    views.put(
      keyOf(claim.leaseId),
      encode({
        runId: claim.runId,
        host,
        directory: claim.directory,
        renewedAt: new Date(nowMs).toISOString(),
        free
      }),
      revision
    )

  const acquire: LeasesShape["acquire"] = (claim) =>
    Effect.gen(function* () {
      const nowMs = yield* Clock.currentTimeMillis
      const { lease, revision } = yield* load(claim.leaseId)
      const other = yield* otherHolder(lease, claim, nowMs)
      if (other !== undefined) return yield* other
      yield* write(claim, false, nowMs, revision).pipe(
        Effect.catchTag(["BrokerFault", "BrokerFull"], (cause) => Effect.fail(fault(cause)))
      )
    }).pipe(
      Effect.retry({ times: maxAttempts, while: (error) => error._tag === "Conflict" }),
      Effect.catchTag("Conflict", (conflict) => Effect.fail(fault(conflict)))
    )

  const check: LeasesShape["check"] = (claim) =>
    Effect.gen(function* () {
      const { lease } = yield* load(claim.leaseId)
      const other = yield* otherHolder(lease, claim, yield* Clock.currentTimeMillis)
      if (other !== undefined) return yield* other
    })

  const free: LeasesShape["free"] = (claim) =>
    Effect.gen(function* () {
      const { lease, revision } = yield* load(claim.leaseId)
      if (lease === undefined || lease.free || lease.runId !== claim.runId) return
      yield* write(claim, true, yield* Clock.currentTimeMillis, revision).pipe(
        // Somebody else wrote: it is theirs now, or renewed while being freed.
        Effect.catchTag(["BrokerFault", "BrokerFull"], (cause) => Effect.fail(fault(cause)))
      )
    }).pipe(
      Effect.retry({ times: maxAttempts, while: (error) => error._tag === "Conflict" }),
      Effect.catchTag("Conflict", (conflict) => Effect.fail(fault(conflict)))
    )

  /** A failure is tried again at the next turn. */
  const giveSign = Effect.flatMap(Clock.currentTimeMillis, (nowMs) =>
    views.put(signOf(host), encodeSign({ aliveAt: new Date(nowMs).toISOString() }))
  ).pipe(Effect.catch((cause) => Effect.logWarning(`leases were not renewed: ${cause.message}`)))

  yield* giveSign
  yield* giveSign.pipe(Effect.schedule(Schedule.spaced(times.renewMs)), Effect.forkScoped)

  return Leases.of({ acquire, check, free })
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
