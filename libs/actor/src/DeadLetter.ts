/** What happens to a message that can never be handled: it is stored as a dead letter, for an operator to look at. */
import { keyOfSubject, runOfSubject, type ServiceName, type Subjects } from "@reprise/protocol"
import { Clock, Effect, Schema } from "effect"
import type { BrokerShape, Delivered } from "./broker/Broker.ts"
import { record, sample } from "./metrics/metrics.ts"

/** The message can be handled neither now nor later; `reason` is for the dead letter. */
export class PoisonMessage extends Schema.TaggedError<PoisonMessage>()("PoisonMessage", { reason: Schema.String }) {
  override get message() {
    return this.reason
  }

  /** Code of ours or of a service's actor threw while it worked on the message. */
  static thrownBy(operation: string, cause: unknown): PoisonMessage {
    const what = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
    return new PoisonMessage({ reason: `${operation} threw: ${what}` })
  }
}

/** A message that could not be handled, with where it was stored and why it failed. */
export const DeadLetter = Schema.Struct({
  service: Schema.String,
  reason: Schema.String,
  /** Where the message was stored. */
  stream: Schema.String,
  subject: Schema.String,
  sequence: Schema.Int,
  deliveries: Schema.Int,
  /** The headers of the message's envelope that were present. */
  headers: Schema.Record(Schema.String, Schema.String),
  body: Schema.String
})
export type DeadLetter = typeof DeadLetter.Type

const encode = Schema.encodeSync(Schema.fromJsonString(DeadLetter))

const envelope = ["ce-id", "ce-type", "ce-source", "ce-subject", "ce-time", "traceparent", "reprise-causation"] as const

const longestReason = 8_000

const headersOf = ({ header }: Delivered): Record<string, string> =>
  Object.fromEntries(envelope.flatMap((name) => (header(name) === "" ? [] : [[name, header(name)]])))

/** The id of a stranger's message may be anything; only one that fits into a header becomes the causation. */
const isHeaderText = (id: string): boolean => /^[\x21-\x7e]{1,200}$/.test(id)

/** Which consumer received a message. */
export interface DeadLetterOrigin {
  readonly service: ServiceName
  readonly stream: string
  /** `/<service>/<host>`. */
  readonly source: string
}

/**
 * Stores the dead letter of a delivery; the delivery itself stays unsettled. The id derives from the message's place
 * in its stream, so that doing it again stores nothing twice.
 */
export const storeDeadLetter = Effect.fnUntraced(function* (
  broker: BrokerShape,
  subjects: Subjects,
  { service, source, stream }: DeadLetterOrigin,
  delivery: Delivered,
  reason: string
) {
  const { deliveryCount, sequence, subject } = delivery
  yield* Effect.logError(`stored as a dead letter: ${reason}`)
  record(sample("reprise_dead_letters_total", { service }))
  const key = (stream === "events" ? runOfSubject(subject) : keyOfSubject(subject)) ?? "unknown"
  const body = yield* delivery.body.pipe(Effect.catch((error) => Effect.succeed(error.message)))
  const causation = delivery.header("ce-id")
  yield* broker.publish([
    {
      subject: subjects.dead(service, key),
      body: encode({
        service,
        reason: reason.slice(0, longestReason),
        stream,
        subject,
        sequence,
        deliveries: deliveryCount,
        headers: headersOf(delivery),
        body
      }),
      meta: {
        id: `dead.${service}.${stream}.${sequence}`,
        type: "DeadLetter",
        source,
        subject: key,
        time: new Date(yield* Clock.currentTimeMillis).toISOString(),
        ...(isHeaderText(causation) ? { causation } : {})
      }
    }
  ])
})
