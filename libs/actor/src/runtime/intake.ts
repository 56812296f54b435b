/** From a delivery to a settled delivery: what every consumer of a service does around its own handling. */
import { type Key, keyOfSubject, type MessageMeta, runOfSubject, type Subjects } from "@reprise/protocol"
import { Effect, Result } from "effect"
import type { ActorSettings } from "../ActorConfig.ts"
import type { BrokerShape, ConsumerSpec, Delivered } from "../broker/Broker.ts"
import type { BrokerFault, BrokerFull, Conflict } from "../broker/faults.ts"
import { setAside } from "../DeadLetter.ts"
import { readMeta, Undecodable } from "../wire.ts"
import { makeDeliveries } from "./Deliveries.ts"
import { makeLanes } from "./Lanes.ts"
import { type Poison, thrown } from "./Poison.ts"
import { patiently } from "./patiently.ts"

export type IntakeError = Poison | Undecodable | Conflict | BrokerFault | BrokerFull

/** A delivery whose envelope was read. */
export interface Opened {
  readonly delivery: Delivered
  /** Of the actor that it is for; of an event: its run. */
  readonly key: Key
  readonly meta: MessageMeta
}

export interface IntakeOptions {
  readonly service: string
  readonly spec: ConsumerSpec
  readonly broker: BrokerShape
  readonly subjects: Subjects
  readonly settings: ActorSettings
  /** Deliveries after which a message is set aside unseen: it may be what kills its process. */
  readonly maxDeliveries: number
}

/** Pause before a message that lost too many races is handed to whoever wins them. */
const conflictPauseMs = 100

const open = (stream: ConsumerSpec["stream"], delivery: Delivered): Result.Result<Opened, Undecodable> => {
  const key = stream === "events" ? runOfSubject(delivery.subject) : keyOfSubject(delivery.subject)
  return key === undefined
    ? Result.fail(new Undecodable({ reason: "The subject does not end in an actor's key." }))
    : Result.map(readMeta(delivery.header), (meta) => ({ delivery, meta, key }))
}

/** The way in for one consumer of a service. */
export const makeIntake = Effect.fnUntraced(function* (options: IntakeOptions) {
  const { broker, maxDeliveries, service, settings, spec, subjects } = options
  const deliveries = yield* makeDeliveries(settings)
  const unreadable = yield* makeLanes()
  /** Deliveries that were handed back for reasons of our own do not count against a message. */
  const forgiven = new Map<number, number>()
  const origin = { service, stream: spec.stream, source: `/${service}/${settings.host}` }

  const forgive = (delivery: Delivered) => {
    forgiven.set(delivery.sequence, (forgiven.get(delivery.sequence) ?? 0) + 1)
    deliveries.nak(delivery, conflictPauseMs)
  }

  const ack = (delivery: Delivered) => {
    forgiven.delete(delivery.sequence)
    deliveries.ack(delivery)
  }

  const setAsideAndAck = (delivery: Delivered, reason: string) =>
    patiently(setAside(broker, subjects, origin, delivery, reason)).pipe(
      Effect.andThen(Effect.sync(() => ack(delivery)))
    )

  /**
   * Runs `work` and settles the delivery when it fails: handed back after lost races, set aside with its reason when it
   * can never be handled. Waits out a broker in trouble. Never fails.
   */
  const guard = <R>(delivery: Delivered, work: Effect.Effect<void, IntakeError, R>): Effect.Effect<void, never, R> =>
    delivery.deliveryCount - (forgiven.get(delivery.sequence) ?? 0) > maxDeliveries
      ? setAsideAndAck(delivery, `It was delivered ${delivery.deliveryCount} times and never finished.`)
      : patiently(work).pipe(
          Effect.catchTag("Conflict", () =>
            Effect.logWarning("handed back after too many lost races").pipe(
              Effect.andThen(Effect.sync(() => forgive(delivery)))
            )
          ),
          Effect.catchTag(["Poison", "Undecodable"], (error) => setAsideAndAck(delivery, error.message)),
          Effect.catchDefect((defect) => setAsideAndAck(delivery, thrown(service, defect).message))
        )

  const accept = (delivery: Delivered): Opened | undefined => {
    if (!deliveries.begin(delivery)) return undefined
    const opened = open(spec.stream, delivery)
    if (Result.isSuccess(opened)) return opened.success
    const { failure } = opened
    unreadable.push(spec.stream, guard(delivery, Effect.fail(failure)).pipe(Effect.annotateLogs({ service })))
    return undefined
  }

  return {
    guard,
    /** As `guard`, and acknowledged when done. */
    settle: <R>(delivery: Delivered, work: Effect.Effect<void, IntakeError, R>) =>
      guard(
        delivery,
        Effect.andThen(
          work,
          Effect.sync(() => ack(delivery))
        )
      ),
    ack,
    nak: deliveries.nak,
    setAsideAndAck,
    /** Undefined when the delivery is taken care of: its message is under way already, or has no envelope. */
    accept,
    /** Calls `take` for each accepted delivery until the scope closes. */
    receive: (take: (opened: Opened) => void) =>
      broker.consume(spec, (delivery) => {
        const opened = accept(delivery)
        if (opened !== undefined) take(opened)
      })
  }
})

export type Intake = Effect.Success<ReturnType<typeof makeIntake>>
