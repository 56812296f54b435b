/** The record of a working tree's lease, and what a claim to the tree means in view of it. */
import { type Host, RunId } from "@reprise/protocol"
import { Result, Schema } from "effect"

/** Its JSON is what is stored in the broker. */
export const Lease = Schema.Struct({
  runId: RunId,
  host: Schema.String,
  directory: Schema.String,
  /** ISO 8601 UTC. */
  renewedAt: Schema.String,
  /** Given back: anyone may take it. */
  free: Schema.Boolean
})
export type Lease = typeof Lease.Type

const StoredLease = Schema.fromJsonString(Lease)
const decodeLease = Schema.decodeUnknownResult(StoredLease)
export const encodeLease = Schema.encodeSync(StoredLease)

/** When a host last said that it is alive, ISO 8601 UTC. */
const StoredSign = Schema.fromJsonString(Schema.Struct({ aliveAt: Schema.String }))
const decodeSign = Schema.decodeUnknownResult(StoredSign)
export const encodeSign = Schema.encodeSync(StoredSign)

/** A stored value that cannot be read counts as none. */
export const readLease = (stored: string | undefined): Lease | undefined =>
  stored === undefined ? undefined : Result.getOrUndefined(decodeLease(stored))
export const readSign = (stored: string | undefined): string | undefined =>
  stored === undefined ? undefined : Result.getOrUndefined(decodeSign(stored))?.aliveAt

export interface Claim {
  readonly leaseId: string
  readonly runId: RunId
  /** Shown to whoever is refused. */
  readonly directory: string
}

export type LeaseStatus =
  /** Nobody has it. */
  | { readonly _tag: "Free" }
  /** The claiming run has it. */
  | { readonly _tag: "Own" }
  | { readonly _tag: "OfOther"; readonly lease: Lease }

export const statusFor = (claim: Claim, lease: Lease | undefined): LeaseStatus => {
  if (lease === undefined || lease.free) return { _tag: "Free" }
  return lease.runId === claim.runId ? { _tag: "Own" } : { _tag: "OfOther", lease }
}

/** A lease is renewed by its run, or by a sign of its host; the later one counts. */
export const lastRenewal = (lease: Lease, sign: string | undefined): string =>
  sign !== undefined && sign > lease.renewedAt ? sign : lease.renewedAt

export const hasExpired = (renewedAt: string, nowMs: number, ttlMs: number): boolean =>
  nowMs - Date.parse(renewedAt) > ttlMs

export const leaseOf = (claim: Claim, host: Host, nowMs: number, free: boolean): Lease => ({
  runId: claim.runId,
  host,
  directory: claim.directory,
  renewedAt: new Date(nowMs).toISOString(),
  free
})
