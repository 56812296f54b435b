/** A message that could not be handled, kept for an operator with its origin and the reason. */
import { keyOfSubject, runOfSubject, type Subjects } from "@reprise/protocol"
import { Clock, Effect, Metric, Schema } from "effect"
import type { BrokerShape, Delivered } from "./broker/Broker.ts"

export const DeadLetter = Schema.Struct({
  service: Schema.String,
  reason: Schema.String,
  /** Where it was stored. */
  stream: Schema.String,
  subject: Schema.String,
  sequence: Schema.Int,
  deliveries: Schema.Int,
  /** Of its envelope, as far as there is one. */
  headers: Schema.Record(Schema.String, Schema.String),
  body: Schema.String
})
export type DeadLetter = typeof DeadLetter.Type

const encode = Schema.encodeSync(Schema.fromJsonString(DeadLetter))

const deadLetters = Metric.counter("reprise_dead_letters_total", {
  description: "Messages set aside because they could not be handled",
  incremental: true
})

const envelope = ["ce-id", "ce-type", "ce-source", "ce-subject", "ce-time", "traceparent", "reprise-causation"] as const

const visible = (id: string): boolean => /^[\x21-\x7e]{1,200}$/.test(id)

/** Stores the dead letter of a delivery. A repeat stores nothing twice; the delivery is not settled. */
export const setAside = Effect.fnUntraced(function* (
  broker: BrokerShape,
  subjects: Subjects,
  origin: { readonly service: string; readonly stream: string; readonly source: string },
  delivery: Delivered,
  reason: string
) {
  const { service, stream } = origin
  yield* Effect.logError(`set aside: ${reason}`)
  yield* Metric.update(Metric.withAttributes(deadLetters, { service }), 1)
  const key = (stream === "events" ? runOfSubject(delivery.subject) : keyOfSubject(delivery.subject)) ?? "unknown"
  const body = yield* delivery.body.pipe(Effect.catch((error) => Effect.succeed(error.message)))
  const causation = delivery.header("ce-id")
  const letter: DeadLetter = {
    service,
    reason: reason.slice(0, 8_000),
    stream,
    subject: delivery.subject,
    sequence: delivery.sequence,
    deliveries: delivery.deliveryCount,
    headers: Object.fromEntries(
      envelope.flatMap((name) => (delivery.header(name) === "" ? [] : [[name, delivery.header(name)]]))
    ),
    body
  }
  yield* broker.publish([
    {
      subject: subjects.dead(service, key),
      body: encode(letter),
      meta: {
        id: `dead.${service}.${stream}.${delivery.sequence}`,
        type: "DeadLetter",
        source: origin.source,
        subject: key,
        time: new Date(yield* Clock.currentTimeMillis).toISOString(),
        ...(visible(causation) ? { causation } : {})
      }
    }
  ])
})
