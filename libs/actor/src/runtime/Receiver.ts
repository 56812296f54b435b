/** Receives and settles deliveries: what every consumer of a service does around its own handling. */
import {
  type Key,
  keyOfSubject,
  type MessageMeta,
  runOfSubject,
  type ServiceName,
  type Subjects
} from "@reprise/protocol"
import { Effect, Result } from "effect"
import type { ActorSettings } from "../ActorConfig.ts"
import type { BrokerShape, ConsumerSpec, Delivered } from "../broker/Broker.ts"
import type { BrokerFault, BrokerFull, Conflict } from "../broker/faults.ts"
import { type DeadLetterOrigin, PoisonMessage, storeDeadLetter } from "../DeadLetter.ts"
import { measureLag } from "../metrics/lagMetrics.ts"
import { record, sample } from "../metrics/metrics.ts"
import { readMeta, Undecodable } from "../wire.ts"
import { makeAnswers } from "./Answers.ts"
import { retryBrokerTrouble } from "./brokerRetry.ts"
import { makeDeliveries } from "./Deliveries.ts"

export type HandlingError = PoisonMessage | Undecodable | Conflict | BrokerFault | BrokerFull

/** A delivery whose envelope was read. */
export interface Opened {
  readonly delivery: Delivered
  /** Of the actor that it is for; of an event: its run. */
  readonly key: Key
  readonly meta: MessageMeta
}

export interface ReceiverOptions {
  readonly service: ServiceName
  readonly spec: ConsumerSpec
  readonly broker: BrokerShape
  readonly subjects: Subjects
  readonly settings: ActorSettings
  /** Deliveries after which a message becomes a dead letter without another try: it may be what kills its process. */
  readonly maxDeliveries: number
}

/** Pause before a message that lost too many races goes back, for the process that wins them. */
const conflictPauseMs = 100

const open = (stream: ConsumerSpec["stream"], delivery: Delivered): Result.Result<Opened, Undecodable> => {
  const key = stream === "events" ? runOfSubject(delivery.subject) : keyOfSubject(delivery.subject)
  return key === undefined
    ? Result.fail(new Undecodable({ reason: "The subject does not end in an actor's key." }))
    : Result.map(readMeta(delivery.header), (meta) => ({ delivery, meta, key }))
}

/** How often each message was handed back after lost races; such deliveries do not count towards `maxDeliveries`. */
const makeLostRaces = () => {
  const returned = new Map<number, number>()
  return {
    add: ({ sequence }: Delivered) => void returned.set(sequence, (returned.get(sequence) ?? 0) + 1),
    forget: ({ sequence }: Delivered) => void returned.delete(sequence),
    countOf: ({ sequence }: Delivered) => returned.get(sequence) ?? 0
  }
}

/** Receives the messages of one consumer, until the scope closes. */
export const makeReceiver = Effect.fnUntraced(function* (options: ReceiverOptions) {
  const { broker, maxDeliveries, service, settings, spec, subjects } = options
  const deliveries = yield* makeDeliveries(settings)
  const unreadable = yield* makeAnswers()
  const lostRaces = makeLostRaces()
  const origin: DeadLetterOrigin = { service, stream: spec.stream, source: `/${service}/${settings.host}` }

  const ack = (delivery: Delivered) => {
    lostRaces.forget(delivery)
    deliveries.ack(delivery)
  }

  const handBackAfterRaces = (delivery: Delivered) =>
    Effect.andThen(
      Effect.logWarning("handed back after too many lost races"),
      Effect.sync(() => {
        lostRaces.add(delivery)
        deliveries.nak(delivery, conflictPauseMs)
      })
    )

  const deadLetter = (delivery: Delivered, reason: string) =>
    retryBrokerTrouble(storeDeadLetter(broker, subjects, origin, delivery, reason)).pipe(
      Effect.andThen(Effect.sync(() => ack(delivery)))
    )

  const settleFailures = <R>(
    delivery: Delivered,
    work: Effect.Effect<void, HandlingError, R>
  ): Effect.Effect<void, never, R> =>
    delivery.deliveryCount - lostRaces.countOf(delivery) > maxDeliveries
      ? deadLetter(delivery, `It was delivered ${delivery.deliveryCount} times and never finished.`)
      : retryBrokerTrouble(work).pipe(
          Effect.catchTag("Conflict", () => handBackAfterRaces(delivery)),
          Effect.catchTag(["PoisonMessage", "Undecodable"], (error) => deadLetter(delivery, error.message)),
          Effect.catchDefect((defect) => deadLetter(delivery, PoisonMessage.thrownBy(service, defect).message))
        )

  const measure = ({ deliveryCount }: Delivered) => {
    const { stream } = spec
    // A timer is delivered again until it is due.
    if (deliveryCount > 1 && stream !== "timers") record(sample("reprise_redeliveries_total", { service, stream }))
  }

  const accept = (delivery: Delivered): Opened | undefined => {
    measure(delivery)
    if (!deliveries.begin(delivery)) return undefined
    const opened = open(spec.stream, delivery)
    if (Result.isSuccess(opened)) return opened.success
    const failed = settleFailures(delivery, Effect.fail(opened.failure))
    unreadable.give(spec.stream, Effect.annotateLogs(failed, { service }))
    return undefined
  }

  return {
    /**
     * Runs `work`, and settles the delivery when it fails: handed back after lost races, a dead letter when it can never
     * be handled. Waits for a broker in trouble. Never fails; when `work` succeeds, settling is up to it.
     */
    settleFailures,
    /** As `settleFailures`, and acknowledges when `work` is done. */
    settle: <R>(delivery: Delivered, work: Effect.Effect<void, HandlingError, R>) =>
      settleFailures(
        delivery,
        Effect.andThen(
          work,
          Effect.sync(() => ack(delivery))
        )
      ),
    ack,
    nak: deliveries.nak,
    /** Stores a dead letter and acknowledges. */
    deadLetter,
    /** Undefined when nothing is left to do: the message is under way already, or its envelope cannot be read. */
    accept,
    /** Calls `take` for each accepted delivery until the scope closes. */
    receive: (take: (opened: Opened) => void) =>
      Effect.andThen(
        measureLag(broker, service, spec),
        broker.consume(spec, (delivery) => {
          const opened = accept(delivery)
          if (opened !== undefined) take(opened)
        })
      )
  }
})

export type Receiver = Effect.Success<ReturnType<typeof makeReceiver>>
