/**
 * Runs the long work that a service's actor asked for. A piece of work stays unacknowledged, with heartbeats, while it
 * runs: the broker is the lease. When its process dies, it is delivered again and taken up again.
 */
import {
  anyHost,
  type Host,
  type HostSlots,
  type Key,
  type ServiceName,
  type Subjects,
  subjects as subjectsOf,
  workDurableOf
} from "@reprise/protocol"
import { Cause, Effect, Exit, FiberSet, Layer, Schema, Stream, SubscriptionRef } from "effect"
import type { Tagged } from "./Actor.ts"
import { ActorConfig, type ActorSettings } from "./ActorConfig.ts"
import { Broker, type ConsumerSpec, type Delivered, type Room } from "./broker/Broker.ts"
import type { BrokerFault } from "./broker/faults.ts"
import { NeedMet } from "./health/HostNeed.ts"
import { measureLag } from "./metrics/lagMetrics.ts"
import { claimHost, type HostTaken } from "./runtime/claimHost.ts"
import { type PullLimit, smallestLimit, unlessDrained, whileMet } from "./runtime/PullLimit.ts"
import { makeReceiver, type Opened, type Receiver } from "./runtime/Receiver.ts"
import { serveHost } from "./runtime/serveHost.ts"
import { continuing, logIds } from "./runtime/telemetry.ts"
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

/** Not now: the work is handed back and delivered again after the pause. That is not a failure, so it is not counted as one. */
export class WorkPostponed extends Schema.TaggedError<WorkPostponed>()("WorkPostponed", {
  reason: Schema.String,
  pauseMs: Schema.Finite
}) {
  override get message() {
    return this.reason
  }
}

export interface WorkContext {
  /** The work message's id, the same at every delivery: ids of reports derive from it. */
  readonly id: string
  /** The key of the actor that asked. */
  readonly key: Key
  /** The run that the work is done for, as the envelope says. */
  readonly subject: string
  /** From 1. More than 1: it was postponed, or an earlier process may have begun it. */
  readonly delivery: number
  /** When it was asked for, ISO 8601. */
  readonly requestedAt: string
  /** Whether the host takes no new work: what can go on elsewhere is to leave it when nothing is lost by that. */
  readonly isDrained: () => boolean
}

export interface Worker<Work extends Tagged, R, RGiveUp = never> {
  readonly service: ServiceName
  /** Takes work addressed to this host, and work for any host. */
  readonly host: Host
  readonly work: Schema.Codec<Work, unknown>
  /** Must be repeatable: it runs again after a crash. Returns when the work is done and reported. */
  readonly handle: (work: Work, context: WorkContext) => Effect.Effect<void, WorkFault | WorkPostponed, R>
  /** Tells the actor that this work failed for good, before it becomes a dead letter. */
  readonly giveUp?: (
    work: Work,
    cause: Cause.Cause<WorkFault>,
    context: WorkContext
  ) => Effect.Effect<void, unknown, RGiveUp>
  /** Pieces of work at a time in this process. Default 4. */
  readonly concurrency?: number
  /** Failures in this process after which the work is given up. Default 5. */
  readonly attempts?: number
  /** Pieces of work delivered and not yet done, postponed ones among them; -1: no limit. Default 1000. */
  readonly maxInFlight?: number
  /** A reason to take less work for any host than `concurrency` allows. Default: none but that the host is drained. */
  readonly pullLimit?: PullLimit
  /** What is told of the host's slots to whoever lists hosts. `underWay`: as for `pullLimit`. Default: it has no limit. */
  readonly slots?: (underWay: ReadonlySet<Key>) => HostSlots
}

/** Work that was delivered this often without ever being settled is given up: it keeps killing its process. */
const maxDeliveries = 100
const longestPauseMs = 60_000
/** Pause before work that was stored twice is delivered again: until the first is done. */
const duplicatePauseMs = 5_000

const contextOf = ({ delivery, key, meta }: Opened, { isDrained }: Pick<WorkContext, "isDrained">): WorkContext => ({
  id: meta.id,
  key,
  subject: meta.subject,
  delivery: delivery.deliveryCount,
  requestedAt: meta.time,
  isDrained
})

const specOf = (
  { maxInFlight = 1_000, service }: Pick<Worker<Tagged, never>, "maxInFlight" | "service">,
  host: Host,
  subjects: Subjects,
  { ackWaitMs }: ActorSettings
): ConsumerSpec => ({
  stream: "work",
  durable: workDurableOf(service, host),
  filters: [subjects.works(service, host)],
  maxInFlight,
  ackWaitMs
})

/** A running worker: what it takes, and what it remembers of the work in this process. */
interface RunningWorker<Work extends Tagged, R, RGiveUp> {
  readonly worker: Worker<Work, R, RGiveUp>
  readonly receiver: Receiver
  readonly readWork: ReturnType<typeof bodyReader<Work>>
  /** Ids of the work that runs now. */
  readonly underWay: Set<string>
  /** Failures so far, by the work's id. */
  readonly failures: Map<string, number>
  readonly isDrained: () => boolean
}

/** A fault that is explained in words needs no stack. */
const reasonOf = (cause: Cause.Cause<WorkFault>): string => {
  const error = cause.reasons.find(Cause.isFailReason)?.error
  return error instanceof WorkFault && typeof error.cause === "string" ? error.message : Cause.pretty(cause)
}

/** Reports the failure, and stores the work as a dead letter. A report that fails is tried again later. */
const giveUp = Effect.fnUntraced(function* <Work extends Tagged, R, RGiveUp>(
  running: RunningWorker<Work, R, RGiveUp>,
  opened: Opened,
  work: Work,
  cause: Cause.Cause<WorkFault>
) {
  const { failures, receiver, worker } = running
  const { delivery, meta } = opened
  if (worker.giveUp !== undefined) {
    const reported = yield* Effect.exit(worker.giveUp(work, cause, contextOf(opened, running)))
    if (Exit.isFailure(reported)) {
      yield* Effect.logError("the failure of the work could not be reported; it is tried again", reported.cause)
      return receiver.nak(delivery, longestPauseMs)
    }
  }
  failures.delete(meta.id)
  yield* receiver.deadLetter(delivery, `The work was given up: ${reasonOf(cause)}`)
})

const attempt = Effect.fnUntraced(function* <Work extends Tagged, R, RGiveUp>(
  running: RunningWorker<Work, R, RGiveUp>,
  opened: Opened,
  work: Work
) {
  const { failures, receiver, worker } = running
  const { delivery, meta } = opened
  if (delivery.deliveryCount > maxDeliveries) {
    const fault = new WorkFault({ operation: meta.type, cause: `delivered ${delivery.deliveryCount} times` })
    return yield* giveUp(running, opened, work, Cause.fail(fault))
  }
  const handled = worker
    .handle(work, contextOf(opened, running))
    .pipe(Effect.catchTag("WorkPostponed", (postponed) => Effect.succeed(postponed)))
  const exit = yield* Effect.exit(
    Effect.withSpan(handled, `${worker.service} ${meta.type}`, continuing(meta.traceparent))
  )
  if (Exit.isSuccess(exit)) {
    if (exit.value instanceof WorkPostponed) {
      yield* Effect.logDebug(`postponed for ${exit.value.pauseMs} ms: ${exit.value.reason}`)
      return receiver.nak(delivery, exit.value.pauseMs)
    }
    failures.delete(meta.id)
    return receiver.ack(delivery)
  }
  const attempts = worker.attempts ?? 5
  const failed = (failures.get(meta.id) ?? 0) + 1
  failures.set(meta.id, failed)
  if (failed >= attempts) return yield* giveUp(running, opened, work, exit.cause)
  yield* Effect.logWarning(`work failed, attempt ${failed} of ${attempts}`, exit.cause)
  receiver.nak(delivery, Math.min(longestPauseMs, 500 * 2 ** failed))
})

const runWork = Effect.fnUntraced(function* <Work extends Tagged, R, RGiveUp>(
  running: RunningWorker<Work, R, RGiveUp>,
  opened: Opened
) {
  const { readWork, receiver, underWay, worker } = running
  const { delivery, key, meta } = opened
  if (underWay.has(meta.id)) return receiver.nak(delivery, duplicatePauseMs)
  underWay.add(meta.id)
  const read = Effect.flatMap(bodyOf(delivery), (body) => Effect.fromResult(readWork(meta.type, body)))
  const attempted = Effect.flatMap(read, (work) =>
    attempt(running, opened, work).pipe(Effect.annotateLogs(logIds(worker.service, key, meta, work)))
  )
  yield* receiver.settleFailures(delivery, attempted).pipe(Effect.ensuring(Effect.sync(() => underWay.delete(meta.id))))
})

const run = Effect.fnUntraced(function* <Work extends Tagged, R, RGiveUp>(worker: Worker<Work, R, RGiveUp>) {
  const broker = yield* Broker
  const settings = yield* ActorConfig
  const { host, service } = worker
  const subjects = subjectsOf(settings.prefix)
  const claimed = host === anyHost ? undefined : yield* claimHost(broker, subjects, service, host)
  const drainedAt = claimed?.drainedAt ?? (yield* SubscriptionRef.make<string | undefined>(undefined))
  const isDrained = () => SubscriptionRef.getUnsafe(drainedAt) !== undefined
  const spec = specOf(worker, host, subjects, settings)
  const receiver = yield* makeReceiver({ service, spec, broker, subjects, settings, maxDeliveries: Infinity })
  const running: RunningWorker<Work, R, RGiveUp> = {
    worker,
    receiver,
    readWork: bodyReader(worker.work),
    underWay: new Set(),
    failures: new Map(),
    isDrained
  }
  /** Work for any host that runs here. Of one actor there may be several pieces. */
  const anyUnderWay = new Set<Opened>()
  const keysUnderWay = () => new Set(Array.from(anyUnderWay, ({ key }) => key))
  const needMet = yield* NeedMet
  const presence = smallestLimit([unlessDrained(drainedAt), ...(needMet === undefined ? [] : [whileMet(needMet)])])
  const pullLimit = smallestLimit([presence, ...(worker.pullLimit === undefined ? [] : [worker.pullLimit])])
  yield* serveHost(
    { broker, subjects, service, host, slots: () => worker.slots?.(keysUnderWay()) },
    claimed,
    // A host without a free slot is there all the same.
    { takesAny: () => presence.available(keysUnderWay()) > 0, changes: presence.changes }
  )

  const forAny = specOf(worker, anyHost, subjects, settings)
  let freeSlots = worker.concurrency ?? 4
  let askForMore = () => {}
  const runInSlot = yield* FiberSet.makeRuntime<R | RGiveUp>()
  const take = (delivered: Delivered) => {
    const opened = receiver.accept(delivered)
    if (opened === undefined) return
    const { key, meta } = opened
    const freeSlot = Effect.sync(() => {
      freeSlots += 1
      anyUnderWay.delete(opened)
      askForMore()
    })
    freeSlots -= 1
    if (delivered.subject === subjects.work(service, anyHost, key)) anyUnderWay.add(opened)
    runInSlot(
      runWork(running, opened).pipe(
        Effect.ensuring(freeSlot),
        Effect.annotateLogs({ service, key, work: meta.type, id: meta.id })
      )
    )
  }
  const room: Room = ({ durable }) =>
    durable === forAny.durable ? Math.min(freeSlots, pullLimit.available(keysUnderWay())) : freeSlots
  const specs = claimed === undefined ? [forAny] : [spec, forAny]
  for (const one of specs) yield* measureLag(broker, service, one)
  askForMore = yield* broker.pull(specs, room, take)
  yield* pullLimit.changes.pipe(
    Stream.runForEach(() => Effect.sync(() => askForMore())),
    Effect.forkScoped
  )
})

/**
 * Runs `worker` until the scope closes: takes the work that its service's actor asked for with `requestWork`, for its own
 * host and for any host. When the scope closes, work under way is interrupted and handed back at once.
 *
 * It promises that work is done at least once, and never twice at the same time in one process. Work that fails is tried
 * again with growing pauses; after `attempts` failures `giveUp` reports it, and it becomes a dead letter.
 *
 * A host that is drained takes no work for any host, until that is undone; it is kept with the host's name. Nor does one
 * that lacks what its service needs (`HostNeed`), as long as it does. With `pullLimit` a worker has more reasons to take
 * none. Work that is addressed to the host always comes.
 *
 * Each host has a name of its own: while another process does this service's work under the same name, the layer fails with
 * `HostTaken`.
 *
 * What can surprise: "at the same time" holds per process, not per cluster. A host that hangs longer than the ack wait
 * (5 seconds) can overlap with its successor, so `handle` must be repeatable and its reports need ids that derive from
 * `WorkContext.id`.
 *
 * @example
 * const work = workerLayer({
 *   service: "workspace",
 *   host,
 *   work: WorkspaceWork,
 *   handle: (work, { id, key }) =>
 *     Effect.flatMap(doIt(work), (event) => messenger.send(report(key).Done({ event }), { id: `${id}.done` }))
 * })
 */
export const workerLayer = <Work extends Tagged, R = never, RGiveUp = never>(
  worker: Worker<Work, R, RGiveUp>
): Layer.Layer<never, BrokerFault | HostTaken, Broker | ActorConfig | R | RGiveUp> => Layer.effectDiscard(run(worker))
