/**
 * One worker of a service for each host name. Work addressed to a host belongs to its files and to the memory of one
 * process; two processes of the same name would take each other's agents for a human's
 * (docs/design/architecture.md#where-things-run).
 */
import type { Host, ServiceName, Subjects } from "@reprise/protocol"
import { Effect, Result, Schedule, Schema } from "effect"
import type { BrokerShape } from "../broker/Broker.ts"
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

const Claim = Schema.fromJsonString(Schema.Struct({ instance: Schema.String }))
const readClaim = Schema.decodeUnknownResult(Claim)
const encodeClaim = Schema.encodeSync(Claim)

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
  const answersAt = (of: string) => `${subjects.worker(service, host)}.${of}`
  yield* broker.serve(`${service}-host`, { [answersAt(instance)]: () => Effect.succeed("") })
  const claim = Effect.gen(function* () {
    const stored = yield* broker.views.get(key)
    const holder = Result.getOrUndefined(readClaim(stored?.value))?.instance
    if (holder !== undefined && holder !== instance && (yield* isThere(broker, answersAt(holder)))) {
      return yield* new HostTaken({ service, host })
    }
    yield* broker.views.put(key, encodeClaim({ instance }), stored?.revision ?? 0)
  })
  yield* retryBrokerTrouble(Effect.retry(claim, { while: ({ _tag }) => _tag === "Conflict" })).pipe(
    Effect.catchTag("Conflict", () => new HostTaken({ service, host })),
    Effect.retry({ ...patience, while: ({ _tag }) => _tag === "HostTaken" })
  )
})
