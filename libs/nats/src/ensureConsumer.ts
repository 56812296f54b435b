/** Durable consumers: created once by name and never deleted while Reprise runs. */
import { AckPolicy, type ConsumerConfig, type ConsumerInfo, DeliverPolicy } from "@nats-io/jetstream"
import { nanos } from "@nats-io/transport-node"
import { Effect, Option, Schema } from "effect"
import { attempt, JetStreamRefused, jetStreamCode, untilAnswered } from "./BrokerError.ts"
import { differences } from "./compareConfig.ts"
import { Nats, type NatsShape } from "./Nats.ts"
import { formatVersion, type ServerVersion, supports } from "./ServerVersion.ts"

export interface ConsumerOptions {
  readonly stream: string
  /** The consumer's name, the same at every start. */
  readonly durable: string
  /** More than one needs a server from 2.10. Empty: the whole stream. */
  readonly filterSubjects: ReadonlyArray<string>
  /** A message is delivered again after this time without an acknowledgement or a progress signal. */
  readonly ackWaitMs: number
  /** Deliveries of one message before the server gives up on it; -1 for no limit. */
  readonly maxDeliver: number
  /** Delivered messages without acknowledgement, over all clients of this consumer. */
  readonly maxAckPending: number
  /** Where a new consumer starts. Default `all`. */
  readonly deliverPolicy?: "all" | "new"
}

/** The consumer exists with a setting that cannot be changed. */
export class ConsumerMismatch extends Schema.TaggedError<ConsumerMismatch>()("ConsumerMismatch", {
  stream: Schema.String,
  consumer: Schema.String,
  field: Schema.String,
  wanted: Schema.String,
  found: Schema.String
}) {
  override get message() {
    return `The consumer ${this.consumer} of ${this.stream} has ${this.field} ${this.found}, but Reprise needs ${this.wanted}. Remove that consumer with the 'nats' tool, and start again.`
  }
}

export class ServerTooOld extends Schema.TaggedError<ServerTooOld>()("ServerTooOld", {
  found: Schema.String,
  what: Schema.String
}) {
  override get message() {
    return `nats-server ${this.found} cannot ${this.what}. Use 2.10.23 or newer.`
  }
}

const filters = (subjects: ReadonlyArray<string>): Partial<ConsumerConfig> => {
  const [only, ...others] = subjects
  if (only === undefined) return {}
  return others.length === 0 ? { filter_subject: only } : { filter_subjects: [...subjects] }
}

const wantedConfig = (options: ConsumerOptions): Partial<ConsumerConfig> => ({
  ...filters(options.filterSubjects),
  durable_name: options.durable,
  ack_policy: AckPolicy.Explicit,
  deliver_policy: options.deliverPolicy === "new" ? DeliverPolicy.New : DeliverPolicy.All,
  ack_wait: nanos(options.ackWaitMs),
  max_deliver: options.maxDeliver,
  max_ack_pending: options.maxAckPending
})

/** JetStream never changes these on a consumer that exists. */
const fixed = ["ack_policy", "deliver_policy", "durable_name"]

const findConsumer = (nats: NatsShape, stream: string, durable: string) =>
  attempt(`read consumer ${durable} of ${stream}`, () => nats.jsm.consumers.info(stream, durable)).pipe(
    Effect.map(Option.some<ConsumerInfo>),
    Effect.catchIf(
      (error) => error instanceof JetStreamRefused && error.code === jetStreamCode.consumerNotFound,
      () => Effect.succeedNone
    )
  )

const requireSeveralFilters = (version: Option.Option<ServerVersion>) =>
  Option.isSome(version) && !supports(version.value, "filterSubjects")
    ? new ServerTooOld({ found: formatVersion(version.value), what: "filter a consumer by several subjects" })
    : Effect.void

/**
 * Creates the consumer, or updates it and keeps its position. Idempotent, and safe when several processes do it at once.
 * The settings are read back, because servers silently ignore those that they do not know. Fails with `ConsumerMismatch`,
 * which names the field, when an existing consumer cannot be given the wanted settings.
 *
 * @example ensureConsumer({ stream, durable: "gate", filterSubjects, ackWaitMs: 30_000, maxDeliver: -1, maxAckPending: 64 })
 */
export const ensureConsumer = Effect.fn("ensureConsumer")(function* (options: ConsumerOptions) {
  const nats = yield* Nats
  const { durable, stream } = options
  if (options.filterSubjects.length > 1) yield* requireSeveralFilters(yield* nats.serverVersion)
  const wanted = wantedConfig(options)
  const mismatch = (difference: { field: string; wanted: string; found: string }) =>
    new ConsumerMismatch({ stream, consumer: durable, ...difference })

  const existing = yield* findConsumer(nats, stream, durable)
  if (Option.isSome(existing)) {
    const found = differences(wanted, existing.value.config)
    if (found.length === 0) return existing.value
    const unchangeable = found.find(({ field }) => fixed.includes(field))
    if (unchangeable !== undefined) return yield* mismatch(unchangeable)
    // A filter can move between the singular and the plural field; the other one must be cleared.
    const both = options.filterSubjects.length > 1 ? { filter_subject: "" } : { filter_subjects: [] }
    const cleared = found.some(({ field }) => field.startsWith("filter")) ? both : {}
    yield* attempt(`update consumer ${durable} of ${stream}`, () =>
      nats.jsm.consumers.update(stream, durable, { ...wanted, ...cleared })
    )
  } else {
    yield* attempt(`create consumer ${durable} of ${stream}`, () => nats.jsm.consumers.add(stream, wanted))
  }

  const stored = yield* attempt(`read consumer ${durable} of ${stream}`, () => nats.jsm.consumers.info(stream, durable))
  const [refused] = differences(wanted, stored.config)
  return refused === undefined ? stored : yield* mismatch(refused)
}, untilAnswered)
