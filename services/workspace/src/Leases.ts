/**
 * One run per working tree: a lease in the broker, held for a run by the host that has the files (workspace: Locks).
 * The host's service renews its leases while it lives, also those from before a restart; when it is gone they run out.
 * Every write names the revision it replaces, so of two runs that want a tree at once one gets it.
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

/** Lost races for one lease after which the request is tried again later. */
const maxAttempts = 5
const group = "lease"

export interface LeaseTimes {
  /** A lease that was not renewed for this long may be taken over. */
  readonly ttlMs: number
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

  const otherHolder = (lease: Lease | undefined, claim: Claim, nowMs: number): InUse | undefined =>
    lease === undefined ||
    lease.free ||
    lease.runId === claim.runId ||
    nowMs - Date.parse(lease.renewedAt) > times.ttlMs
      ? undefined
      : new InUse({ directory: lease.directory, runId: lease.runId, host: lease.host, renewedAt: lease.renewedAt })

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
      const other = otherHolder(lease, claim, nowMs)
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
      const other = otherHolder(lease, claim, yield* Clock.currentTimeMillis)
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

  const renew = Effect.fnUntraced(function* (key: string) {
    const leaseId = key.slice(group.length + 1)
    const { lease, revision } = yield* load(leaseId)
    if (lease === undefined || lease.free || lease.host !== host) return
    yield* write({ ...lease, leaseId }, false, yield* Clock.currentTimeMillis, revision)
  })

  /** Renews this host's leases now and then for ever. A failure is tried again at the next turn. */
  const renewAll = views.list(group).pipe(
    Effect.flatMap((all) =>
      Effect.forEach(
        all.filter(({ value }) => read(value)?.host === host),
        ({ key }) =>
          renew(key).pipe(Effect.catch((cause) => Effect.logDebug(`lease ${key} was not renewed: ${cause.message}`))),
        { discard: true }
      )
    ),
    Effect.catch((cause) => Effect.logWarning(`leases were not renewed: ${cause.message}`))
  )

  yield* renewAll
  yield* renewAll.pipe(Effect.schedule(Schedule.spaced(times.renewMs)), Effect.forkScoped)

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
