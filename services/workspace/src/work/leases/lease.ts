/** The record of a working tree's lease, and whether a claim to the tree can be granted. */
import { type Host, RunId } from "@reprise/protocol"
import { Result, Schema } from "effect"

/** Its JSON is what is stored in the broker. */
export const Lease = Schema.Struct({
  runId: RunId,
  host: Schema.String,
  directory: Schema.String,
  /** ISO 8601 UTC. */
  renewedAt: Schema.String,
  /** Given back: anyone may take it, but for late attempts of the request that had it. */
  free: Schema.Boolean,
  /** The request for which it was taken. */
  requestId: Schema.optionalKey(Schema.String)
})
export type Lease = typeof Lease.Type

const StoredLease = Schema.fromJsonString(Lease)
const decodeLease = Schema.decodeUnknownResult(StoredLease)
export const encodeLease = Schema.encodeSync(StoredLease)

/** A host's last heartbeat, ISO 8601 UTC. */
const StoredHeartbeat = Schema.fromJsonString(Schema.Struct({ aliveAt: Schema.String }))
const decodeHeartbeat = Schema.decodeUnknownResult(StoredHeartbeat)
export const encodeHeartbeat = Schema.encodeSync(StoredHeartbeat)

/** A stored value that cannot be read counts as none. */
export const readLease = (stored: string | undefined): Lease | undefined =>
  stored === undefined ? undefined : Result.getOrUndefined(decodeLease(stored))
export const readHeartbeat = (stored: string | undefined): string | undefined =>
  stored === undefined ? undefined : Result.getOrUndefined(decodeHeartbeat(stored))?.aliveAt

export interface Claim {
  readonly leaseId: string
  readonly runId: RunId
  /** Shown to whoever is refused. */
  readonly directory: string
  /** The request that takes it. */
  readonly requestId?: string | undefined
}

export type LeaseStatus =
  /** Nobody has it. */
  | { readonly _tag: "Free" }
  /** The claiming request had it, and is over: the claim comes from an attempt that hung meanwhile. */
  | { readonly _tag: "GivenBack" }
  /** The claiming run has it. */
  | { readonly _tag: "Own" }
  | { readonly _tag: "OfOther"; readonly lease: Lease }

const isSameRequest = ({ requestId, runId }: Claim, lease: Lease): boolean =>
  requestId !== undefined && lease.runId === runId && lease.requestId === requestId

export const statusFor = (claim: Claim, lease: Lease | undefined): LeaseStatus => {
  if (lease === undefined) return { _tag: "Free" }
  if (lease.free) return { _tag: isSameRequest(claim, lease) ? "GivenBack" : "Free" }
  return lease.runId === claim.runId ? { _tag: "Own" } : { _tag: "OfOther", lease }
}

/** The run that holds a lease of this host; none, where it is free or another host's. */
export const heldBy = (lease: Lease | undefined, host: Host): ReadonlyArray<RunId> =>
  lease === undefined || lease.free || lease.host !== host ? [] : [lease.runId]

/** A lease is renewed by its run, or by its host's heartbeat; the later one counts. */
export const lastRenewal = (lease: Lease, heartbeat: string | undefined): string =>
  heartbeat !== undefined && heartbeat > lease.renewedAt ? heartbeat : lease.renewedAt

export const hasExpired = (renewedAt: string, nowMs: number, ttlMs: number): boolean =>
  nowMs - Date.parse(renewedAt) > ttlMs

export const leaseOf = (claim: Claim, host: Host, nowMs: number, free: boolean): Lease => ({
  runId: claim.runId,
  host,
  directory: claim.directory,
  renewedAt: new Date(nowMs).toISOString(),
  free,
  ...(claim.requestId === undefined ? {} : { requestId: claim.requestId })
})
