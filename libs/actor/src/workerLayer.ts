/**
 * Runs the long work that a service's actor asked for. A piece of work stays unacknowledged, with heartbeats, while it
 * runs: the broker is the lease. When its process dies, it is delivered again and taken up again.
 */
import { anyHost, type Host, type Key, type ServiceName, subjects as subjectsOf } from "@reprise/protocol"
import { Cause, Effect, Exit, FiberSet, Layer, Schema, Semaphore } from "effect"
import type { Tagged } from "./Actor.ts"
import { ActorConfig } from "./ActorConfig.ts"
import { Broker, type ConsumerSpec } from "./broker/Broker.ts"
import type { BrokerFault } from "./broker/faults.ts"
import { makeIntake, type Opened } from "./runtime/intake.ts"
import { logIds } from "./runtime/logIds.ts"
import { continuing } from "./runtime/trace.ts"
import { bodyOf, bodyReader } from "./wire.ts"

/** The work did not get done this time; it is tried again. */
export class WorkFault extends Schema.TaggedError<WorkFault>()("WorkFault", {
  operation: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    const reason = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return `${this.operation} failed: ${reason}`
  }
}

export interface WorkContext {
  /** Of the work message, the same at every delivery: ids of reports derive from it. */
  readonly id: string
  /** The key of the actor that asked. */
  readonly key: Key
  /** The run that it is done for, as the envelope says. */
  readonly subject: string
  /** From 1. More than 1: an earlier process may have begun it. */
  readonly delivery: number
}

export interface Worker<Work extends Tagged, R, RGiveUp = never> {
  readonly service: ServiceName
  /** Takes work addressed to this host, and work for any host. */
  readonly host: Host
  readonly work: Schema.Codec<Work, unknown>
  /** Must be repeatable: it runs again after a crash. Returns when the work is done and reported. */
  readonly handle: (work: Work, context: WorkContext) => Effect.Effect<void, WorkFault, R>
  /** Tells the actor that this work failed for good, before it goes to the dead letters. */
  readonly giveUp?: (
    work: Work,
    cause: Cause.Cause<WorkFault>,
    context: WorkContext
  ) => Effect.Effect<void, unknown, RGiveUp>
  /** Pieces of work at a time in this process. Default 4. */
  readonly concurrency?: number
  /** Failures in this process after which the work is given up. Default 5. */
  readonly attempts?: number
}

/** Work that was delivered this often without ever being settled is given up: it keeps killing its process. */
const mostDeliveries = 100
const longestPauseMs = 60_000
/** For the same work stored twice: until the one under way is done. */
const twinPauseMs = 5_000

const contextOf = ({ delivery, key, meta }: Opened): WorkContext => ({
  id: meta.id,
  key,
  subject: meta.subject,
  delivery: delivery.deliveryCount
})

const make = Effect.fnUntraced(function* <Work extends Tagged, R, RGiveUp>(worker: Worker<Work, R, RGiveUp>) {
  const broker = yield* Broker
  const settings = yield* ActorConfig
  const { giveUp, handle, host, service } = worker
  const subjects = subjectsOf(settings.prefix)
  const attempts = worker.attempts ?? 5
  const specOf = (of: Host): ConsumerSpec => ({
    stream: "work",
    durable: `work-${service}-${of}`,
    filters: [subjects.works(service, of)],
    maxInFlight: 1_000,
    ackWaitMs: settings.ackWaitMs
  })
  const specs = host === anyHost ? [specOf(anyHost)] : [specOf(host), specOf(anyHost)]
  const intake = yield* makeIntake({ service, spec: specOf(host), broker, subjects, settings, maxDeliveries: Infinity })
  const readWork = bodyReader(worker.work)
  const running = new Set<string>()
  const failures = new Map<string, number>()

  const abandon = Effect.fnUntraced(function* (opened: Opened, work: Work, cause: Cause.Cause<WorkFault>) {
    const { delivery, meta } = opened
    if (giveUp !== undefined) {
      const told = yield* Effect.exit(giveUp(work, cause, contextOf(opened)))
      if (Exit.isFailure(told)) {
        yield* Effect.logError("the failure of the work could not be reported; it is tried again", told.cause)
        return intake.nak(delivery, longestPauseMs)
      }
    }
    failures.delete(meta.id)
    yield* intake.setAsideAndAck(delivery, `The work was given up: ${Cause.pretty(cause)}`)
  })

  const attempt = Effect.fnUntraced(function* (opened: Opened, work: Work) {
    const { delivery, meta } = opened
    const context = contextOf(opened)
    if (delivery.deliveryCount > mostDeliveries) {
      const reason = new WorkFault({ operation: meta.type, cause: `delivered ${delivery.deliveryCount} times` })
      return yield* abandon(opened, work, Cause.fail(reason))
    }
    const exit = yield* Effect.exit(
      Effect.withSpan(handle(work, context), `${service} ${meta.type}`, continuing(meta.traceparent))
    )
    if (Exit.isSuccess(exit)) {
      failures.delete(meta.id)
      return intake.ack(delivery)
    }
    const failed = (failures.get(meta.id) ?? 0) + 1
    failures.set(meta.id, failed)
    if (failed >= attempts) return yield* abandon(opened, work, exit.cause)
    yield* Effect.logWarning(`work failed, attempt ${failed} of ${attempts}`, exit.cause)
    intake.nak(delivery, Math.min(longestPauseMs, 500 * 2 ** failed))
  })

  const run = Effect.fnUntraced(function* (opened: Opened) {
    const { delivery, meta } = opened
    if (running.has(meta.id)) return intake.nak(delivery, twinPauseMs)
    running.add(meta.id)
    yield* intake
      .guard(
        delivery,
        Effect.flatMap(bodyOf(delivery), (body) => Effect.fromResult(readWork(meta.type, body))).pipe(
          Effect.flatMap((work) =>
            attempt(opened, work).pipe(Effect.annotateLogs(logIds(service, opened.key, meta, work)))
          )
        )
      )
      .pipe(Effect.ensuring(Effect.sync(() => running.delete(meta.id))))
  })

  const next = yield* broker.pull(specs)
  const slots = yield* Semaphore.make(worker.concurrency ?? 4)
  const fibers = yield* FiberSet.make<void, never>()
  yield* Effect.gen(function* () {
    yield* slots.take(1)
    const opened = intake.accept(yield* next)
    if (opened === undefined) return yield* slots.release(1)
    const { key, meta } = opened
    yield* FiberSet.run(
      fibers,
      run(opened).pipe(
        Effect.ensuring(slots.release(1)),
        Effect.annotateLogs({ service, key, work: meta.type, id: meta.id })
      )
    )
  }).pipe(Effect.forever, Effect.forkScoped)
})

/** Runs `worker` until the scope closes; then work under way is interrupted and handed back at once. */
export const workerLayer = <Work extends Tagged, R = never, RGiveUp = never>(
  worker: Worker<Work, R, RGiveUp>
): Layer.Layer<never, BrokerFault, Broker | ActorConfig | R | RGiveUp> => Layer.effectDiscard(make(worker))
