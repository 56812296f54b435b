/**
 * One worker of a service for each host name. Work addressed to a host belongs to its files and to the memory of one
 * process; two processes of the same name would take each other's agents for a human's
 * (docs/design/architecture.md#where-things-run).
 */
import type { Host, ServiceName, Subjects } from "@reprise/protocol"
import { Clock, Effect, Result, Schedule, Schema, SubscriptionRef } from "effect"
import type { BrokerShape } from "../broker/Broker.ts"
import { type BrokerFault, type BrokerFull, Conflict } from "../broker/faults.ts"
import { NewId } from "../newId.ts"
import { retryBrokerTrouble } from "./brokerRetry.ts"

/** Another process does this service's work under this host's name. */
export class HostTaken extends Schema.TaggedError<HostTaken>()("HostTaken", {
  service: Schema.String,
  host: Schema.String
}) {
  override get message() {
    return `Another ${this.service} already does the work of host '${this.host}' on this broker. Give each host a name of its own in REPRISE_HOST, or end the other process first.`
  }
}

/** A predecessor that is about to end may take as long. */
const patience = { schedule: Schedule.spaced("500 millis"), times: 20 } as const

const Claim = Schema.Struct({
  instance: Schema.String,
  /** When the host stopped taking new work; kept when another process takes the name. */
  drainedAt: Schema.optionalKey(Schema.String)
})
type Claim = typeof Claim.Type
const ClaimText = Schema.fromJsonString(Claim)
const decodeClaim = Schema.decodeUnknownResult(ClaimText)
const encodeClaim = Schema.encodeSync(ClaimText)

/** What is stored under a host's name; undefined: nothing that can be read. */
export const readClaim = (stored: string | undefined): Claim | undefined => Result.getOrUndefined(decodeClaim(stored))

/** The claim of the process that takes the name: whether the host is drained is the host's, not its process's. */
export const takenOver = (before: Claim | undefined, instance: string): Claim => ({
  ...(before?.drainedAt === undefined ? {} : { drainedAt: before.drainedAt }),
  instance
})

/** The claim as it is to be; the same one if nothing changes. A host that is drained again was drained at the first time. */
export const withDrained = (claim: Claim, drained: boolean, now: string): Claim => {
  if (drained === (claim.drainedAt !== undefined)) return claim
  const { instance } = claim
  return drained ? { instance, drainedAt: now } : { instance }
}

/** A host's name while this process has it. */
export interface ClaimedHost {
  /** When the host stopped taking new work, ISO 8601; undefined: it takes new work. */
  readonly drainedAt: SubscriptionRef.SubscriptionRef<string | undefined>
  /** Stores whether the host takes new work. Fails when another process has taken the name meanwhile. */
  readonly setDrained: (drained: boolean) => Effect.Effect<void, HostTaken | BrokerFault | BrokerFull>
}

const isConflict = (error: unknown): error is Conflict => error instanceof Conflict

/** Whether the process that claimed the name is there: one that was killed is not, nor is one that answers nobody. */
const isThere = (broker: BrokerShape, subject: string) =>
  broker.request(subject, "").pipe(
    Effect.map((answer) => answer !== undefined),
    Effect.catch((error) =>
      Effect.as(Effect.logWarning(`the process that has this host's name does not answer: ${error.message}`), false)
    )
  )

/**
 * Takes the host's name for this process until the scope closes. It answers for itself before it claims, so that of two
 * that start at once the one that comes second finds the first. Fails while another process has the name and is there.
 */
export const claimHost = Effect.fnUntraced(function* (
  broker: BrokerShape,
  subjects: Subjects,
  service: ServiceName,
  host: Host
) {
  const instance = (yield* NewId)()
  const key = `host.${service}.${host}`
  const taken = Effect.suspend(() => new HostTaken({ service, host }))
  const answersAt = (of: string) => `${subjects.worker(service, host)}.${of}`
  yield* broker.serve(`${service}-host`, { [answersAt(instance)]: () => Effect.succeed("") })
  const look = Effect.map(broker.views.get(key), (stored) => ({
    claim: readClaim(stored?.value),
    revision: stored?.revision ?? 0
  }))
  const claim = Effect.gen(function* () {
    const { claim: before, revision } = yield* look
    const holder = before?.instance
    if (holder !== undefined && holder !== instance && (yield* isThere(broker, answersAt(holder)))) {
      return yield* taken
    }
    const own = takenOver(before, instance)
    yield* broker.views.put(key, encodeClaim(own), revision)
    return own
  })
  const claimed = yield* Effect.retry(retryBrokerTrouble(Effect.retry(claim, { while: isConflict })), patience)
  const drainedAt = yield* SubscriptionRef.make(claimed.drainedAt)
  const store = Effect.fnUntraced(function* (drained: boolean) {
    const { claim: now, revision } = yield* look
    if (now?.instance !== instance) return yield* taken
    const next = withDrained(now, drained, new Date(yield* Clock.currentTimeMillis).toISOString())
    if (next === now) return
    yield* broker.views.put(key, encodeClaim(next), revision)
    yield* SubscriptionRef.set(drainedAt, next.drainedAt)
  })
  const setDrained: ClaimedHost["setDrained"] = (drained) => Effect.catchTag(store(drained), "Conflict", () => taken)
  return { drainedAt, setDrained } satisfies ClaimedHost
})
