/**
 * Gauges of what the services of this process have not done yet, as the broker knows it: also where a service hangs and
 * takes nothing. The broker is asked when somebody reads the metrics, and only then.
 */
import type { ServiceName } from "@reprise/protocol"
import { Context, Effect, Layer, Schedule } from "effect"
import type { BrokerShape, ConsumerSpec, Lag } from "../broker/Broker.ts"
import { record, type Sample, sample } from "./metrics.ts"

type Consumer = Pick<ConsumerSpec, "stream" | "durable">

interface Measured {
  readonly broker: Pick<BrokerShape, "lag">
  readonly service: ServiceName
  readonly consumer: Consumer
}

/** The consumers of all services in the process, like the registry of its metrics. A simulated process has its own. */
export const MeasuredConsumers = Context.Reference<Set<Measured>>("@reprise/actor/MeasuredConsumers", {
  defaultValue: () => new Set()
})

/** Has the lag of the consumer measured until the scope closes. */
export const measureLag = (broker: Measured["broker"], service: ServiceName, consumer: Consumer) =>
  Effect.acquireRelease(
    Effect.map(MeasuredConsumers, (measured) => {
      const one = { broker, service, consumer }
      measured.add(one)
      return { measured, one }
    }),
    ({ measured, one }) => Effect.sync(() => measured.delete(one))
  )

/** Work has a consumer for each host and one for all: what a service is behind is the sum of those that it takes from. */
export const lagSamples = (
  service: ServiceName,
  stream: ConsumerSpec["stream"],
  lags: ReadonlyArray<Lag>
): ReadonlyArray<Sample> => {
  const sumOf = (what: keyof Lag) => lags.reduce((sum, lag) => sum + lag[what], 0)
  return [
    sample("reprise_pending_messages", { service, stream }, sumOf("waiting")),
    sample("reprise_unacknowledged_messages", { service, stream }, sumOf("unsettled"))
  ]
}

/** Of the consumers of one service on one stream. If one of them is not told, the sum keeps its last value. */
const lookAt = Effect.fnUntraced(function* (consumers: readonly [Measured, ...ReadonlyArray<Measured>]) {
  const lags = yield* Effect.forEach(consumers, ({ broker, consumer }) => broker.lag(consumer), {
    concurrency: "unbounded"
  })
  const [{ consumer, service }] = consumers
  const known = lags.flatMap((lag) => lag ?? [])
  if (known.length === lags.length) lagSamples(service, consumer.stream, known).forEach(record)
})

/** Asks the brokers once. */
const lookAtLag: Effect.Effect<void> = Effect.flatMap(MeasuredConsumers, (measured) => {
  const groups = new Map<string, readonly [Measured, ...ReadonlyArray<Measured>]>()
  for (const one of measured) {
    const name = `${one.service} ${one.consumer.stream}`
    const others = groups.get(name)
    groups.set(name, others === undefined ? [one] : [...others, one])
  }
  return Effect.forEach(groups.values(), (consumers) => Effect.ignore(lookAt(consumers)), {
    concurrency: "unbounded",
    discard: true
  })
})

/** A broker that does not answer holds up nobody: what it does not say in time keeps its last value. */
const patience = "1 second"
const lookInTime = Effect.asVoid(Effect.timeoutOption(lookAtLag, patience))

/** The value for all readers of the metrics here: however many there are, the broker is asked no more often. */
export const lagForReaders: Effect.Effect<Effect.Effect<void>> = Effect.cachedWithTTL(lookInTime, "5 seconds")

/** For a collector that is told them: looks until the scope closes. */
export const lagMetrics: Layer.Layer<never> = Layer.effectDiscard(
  lookInTime.pipe(Effect.repeat(Schedule.spaced("15 seconds")), Effect.forkScoped)
)
