/** Runs one kind of actor: its commands, the events it subscribes to, its timers and its queries. */
import {
  durableOf,
  idsAround,
  type Key,
  type PublicEvent,
  type ServiceName,
  type Subjects,
  subjects as subjectsOf
} from "@reprise/protocol"
import { Clock, Effect, Layer, Schedule } from "effect"
import type { Actor, Subscription, Tagged } from "./Actor.ts"
import { ActorConfig, type ActorSettings } from "./ActorConfig.ts"
import { Broker, type BrokerShape, type ConsumerSpec } from "./broker/Broker.ts"
import type { BrokerFault } from "./broker/faults.ts"
import { PoisonMessage } from "./DeadLetter.ts"
import { NewId } from "./newId.ts"
import { type ActorRuntime, makeActorRuntime } from "./runtime/ActorRuntime.ts"
import { makeAnswers } from "./runtime/Answers.ts"
import { currentView, handleInput, refuseUnreadable } from "./runtime/handleInput.ts"
import { type KeyedQueues, makeKeyedQueues } from "./runtime/KeyedQueues.ts"
import { type HandlingError, makeReceiver, type Opened, type Receiver } from "./runtime/Receiver.ts"
import { serveQueries } from "./runtime/serveQueries.ts"
import { logIds } from "./runtime/telemetry.ts"
import { handleTimer } from "./runtime/timers.ts"
import { makeViewWriter } from "./runtime/ViewWriter.ts"
import { bodyOf, bodyReader, readEvent, type Undecodable } from "./wire.ts"

/** A running actor: its runtime, and the queues in which its inputs are handled. */
interface Running<State, Input extends Tagged, Event extends Tagged> {
  readonly runtime: ActorRuntime<State, Input, Event>
  readonly queues: KeyedQueues
}

type Part = "commands" | "events" | "timers"

const makeReceiverOf =
  (broker: BrokerShape, settings: ActorSettings, subjects: Subjects, service: ServiceName) =>
  (stream: Part, filters: ReadonlyArray<string>) => {
    // A timer is delivered until it is due, so neither its deliveries nor those under way are limited.
    const isTimer = stream === "timers"
    const spec: ConsumerSpec = {
      stream,
      durable: durableOf(stream, service),
      filters,
      maxInFlight: isTimer ? -1 : settings.maxInFlight,
      ackWaitMs: settings.ackWaitMs
    }
    const maxDeliveries = isTimer ? Infinity : settings.maxDeliveries
    return makeReceiver({ service, spec, broker, subjects, settings, maxDeliveries })
  }

/**
 * One input as a job of the actor's queue; its answer is stored beside the queue. A failure may have left the memory behind
 * the journal, so it is loaded again. `unreadable`: the answer to an input that cannot be read.
 */
const inputJob = <State, Input extends Tagged, Event extends Tagged>(
  { runtime }: Running<State, Input, Event>,
  receiver: Receiver,
  { delivery, meta }: Opened,
  key: Key,
  input: Effect.Effect<Input, HandlingError>,
  unreadable: (error: Undecodable) => Effect.Effect<Effect.Effect<void, HandlingError>, HandlingError> = Effect.fail
) => {
  const { actor, answers, arrivals, memory, views } = runtime
  const { service } = actor
  arrivals.last += 1
  const arrival = arrivals.last
  const annotations = { service, key, command: meta.type, id: meta.id }
  const handle = (value: Input) =>
    handleInput(runtime, { key, input: value, meta, arrival, redelivered: delivery.deliveryCount > 1 }).pipe(
      Effect.annotateLogs(logIds(service, key, meta, value)),
      Effect.onError(() => Effect.sync(() => memory.forget(key)))
    )
  const handled = Effect.matchEffect(input, {
    onSuccess: (value): Effect.Effect<number | Effect.Effect<void, HandlingError>, HandlingError> => handle(value),
    onFailure: (error) => (error._tag === "Undecodable" ? unreadable(error) : Effect.fail(error))
  })
  const answered = Effect.map(handled, (outcome) =>
    typeof outcome === "number"
      ? views.whenStored(key, outcome, () => receiver.ack(delivery))
      : answers.give(key, receiver.settle(delivery, outcome).pipe(Effect.annotateLogs(annotations)))
  )
  return receiver
    .settleFailures(delivery, answered)
    .pipe(Effect.andThen(Effect.suspend(() => memory.snapshotIfDue(key))), Effect.annotateLogs(annotations))
}

const receiveCommands = <State, Input extends Tagged, Event extends Tagged>(
  running: Running<State, Input, Event>,
  commands: Receiver
) => {
  const { actor } = running.runtime
  const readCommand = bodyReader(actor.commands)
  return commands.receive((opened) => {
    const { delivery, key, meta } = opened
    const ids = idsAround(actor.service, key, meta.subject)
    const input = Effect.flatMap(bodyOf(delivery), (body) => Effect.fromResult(readCommand(meta.type, body, ids)))
    // Its sender is told, and then it becomes a dead letter.
    const unreadable = (error: Undecodable) =>
      Effect.map(refuseUnreadable(running.runtime, key, meta, error.reason), Effect.andThen(Effect.fail(error)))
    running.queues.push(key, inputJob(running, commands, opened, key, input, unreadable))
  })
}

/** The actor that an event is an input of. `route` is the service's own code and may throw. */
const routeOf = <Event extends PublicEvent>(subscription: Subscription<Event>, event: Event) =>
  Effect.try({
    try: () => subscription.route(event),
    catch: (cause) => PoisonMessage.thrownBy(`route of ${event._tag}`, cause)
  })

const receiveEvents = <State, Input extends Tagged, Event extends Tagged>(
  running: Running<State, Input, Event>,
  events: Receiver,
  subscription: Subscription<Extract<Input, PublicEvent>>
) => {
  const types = new Set<string>(subscription.types)
  const route = Effect.fnUntraced(function* (opened: Opened) {
    const { delivery, meta } = opened
    // It is of one of the subscription's types, and those are inputs of the actor.
    const event = (yield* Effect.fromResult(readEvent(meta.type, yield* bodyOf(delivery)))) as Extract<
      Input,
      PublicEvent
    >
    const key = yield* routeOf(subscription, event)
    if (key === undefined) events.ack(delivery)
    else running.queues.push(key, inputJob(running, events, opened, key, Effect.succeed(event)))
  })
  return events.receive((opened) => {
    // A server that knows one filter per consumer delivers every event.
    if (!types.has(opened.meta.type)) return events.ack(opened.delivery)
    // In a queue of the run, so that events of one run keep their order on the way to the actor's queue.
    running.queues.push(`route ${opened.key}`, events.settleFailures(opened.delivery, route(opened)))
  })
}

const receiveTimers = <State, Input extends Tagged, Event extends Tagged>(
  { queues, runtime }: Running<State, Input, Event>,
  timers: Receiver
) => {
  const { actor, broker, subjects } = runtime
  return timers.receive((opened) =>
    queues.push(`timer ${opened.key}`, handleTimer(broker, subjects.command(actor.service, opened.key), timers, opened))
  )
}

const forgetIdleActors = <State, Input extends Tagged, Event extends Tagged>({
  memory,
  settings
}: ActorRuntime<State, Input, Event>) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    Effect.sync(() => memory.forgetIdle(now - settings.idleAfterMs))
  ).pipe(Effect.schedule(Schedule.spaced(`${Math.ceil(settings.idleAfterMs / 2)} millis`)))

const eventFilters = (subjects: Subjects, subscription: { readonly types: ReadonlyArray<string> } | undefined) =>
  subscription?.types.map((type) => subjects.events("*", "*", type)) ?? []

const run = Effect.fnUntraced(function* <State, Input extends Tagged, Event extends Tagged>(
  actor: Actor<State, Input, Event, Tagged>
) {
  const broker = yield* Broker
  const settings = yield* ActorConfig
  const { service, subscription } = actor
  const subjects = subjectsOf(settings.prefix)

  // When the scope closes, last made is first closed: nothing more is taken, then the queues and their answers finish, then
  // the views that wait are stored, then deliveries that are left are handed back. So the receivers are made first, and
  // begin to receive last.
  const receiverOf = makeReceiverOf(broker, settings, subjects, service)
  const commands = yield* receiverOf("commands", [subjects.commands(service)])
  const timers = yield* receiverOf("timers", [subjects.timers(service)])
  const events = yield* receiverOf("events", eventFilters(subjects, subscription))
  const views = yield* makeViewWriter(actor, broker, settings)
  const runtime = makeActorRuntime(actor, broker, subjects, settings, yield* makeAnswers(), views, (yield* NewId)())
  const running = { runtime, queues: yield* makeKeyedQueues() }

  const { view: viewOf } = actor
  const view = viewOf === undefined ? {} : { view: (key: string) => currentView(runtime, viewOf, key) }
  const { unstored } = views
  yield* serveQueries({
    service,
    broker,
    subjects,
    queues: running.queues,
    unstored,
    workOnHost: actor.workOnHost,
    brief: actor.brief,
    line: actor.line,
    ...view
  })
  yield* Effect.forkScoped(forgetIdleActors(runtime))
  yield* receiveTimers(running, timers)
  if (subscription !== undefined) yield* receiveEvents(running, events, subscription)
  yield* receiveCommands(running, commands)
})

/**
 * Runs `actor` until the scope closes: handles its commands, the events it subscribes to and its timers, and answers the
 * queries `list` and `show` when it has a view.
 *
 * It promises that each input is decided once and that everything it leads to is sent, whenever the process dies. Inputs
 * of one key are handled in order, one at a time; keys are handled side by side. Any number of processes may run the
 * same actor: the journal of each key lets one of them write, and the others decide again on its state.
 *
 * What can surprise: a broker that is away or full makes the actor wait, not fail. An input that throws or cannot be
 * read becomes a dead letter, and the actor goes on with the next. Public events go out after the commit, so a reader of
 * events can see a decision later than `show` does.
 *
 * @example
 * const gateService = actorLayer(escalationActor)
 */
export const actorLayer = <State, Input extends Tagged, Event extends Tagged>(
  actor: Actor<State, Input, Event, Tagged>
): Layer.Layer<never, BrokerFault, Broker | ActorConfig> => Layer.effectDiscard(run(actor))
