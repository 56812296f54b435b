/** Runs one kind of actor: its commands, the events it listens to, its timers and its queries. */
import { idsAround, type Key, type PublicEvent, type ServiceName, subjects as subjectsOf } from "@reprise/protocol"
import { Clock, Effect, Layer } from "effect"
import type { Actor, Subscription, Tagged } from "./Actor.ts"
import { ActorConfig, type ActorSettings } from "./ActorConfig.ts"
import { Broker, type ConsumerSpec } from "./broker/Broker.ts"
import type { BrokerFault } from "./broker/faults.ts"
import { makeInputHandler } from "./runtime/handleInput.ts"
import { type Intake, type IntakeError, makeIntake, type Opened } from "./runtime/intake.ts"
import { makeLanes } from "./runtime/Lanes.ts"
import { logIds } from "./runtime/logIds.ts"
import { thrown } from "./runtime/Poison.ts"
import { serveQueries } from "./runtime/serveQueries.ts"
import { takeTimer } from "./runtime/takeTimer.ts"
import { bodyOf, bodyReader, readEvent } from "./wire.ts"

const consumerOf = (
  stream: ConsumerSpec["stream"],
  service: ServiceName,
  filters: ReadonlyArray<string>,
  { ackWaitMs, maxInFlight }: ActorSettings
): ConsumerSpec => ({ stream, durable: `${stream}-${service}`, filters, maxInFlight, ackWaitMs })

/** Which actor an event is an input of; `route` is the service's own code and may throw. */
const routeOf = <Event extends PublicEvent>(subscription: Subscription<Event>, event: Event) =>
  Effect.try({
    try: () => subscription.route(event),
    catch: (cause) => thrown(`route of ${event._tag}`, cause)
  })

const make = Effect.fnUntraced(function* <State, Input extends Tagged, Event extends Tagged>(
  actor: Actor<State, Input, Event>
) {
  const broker = yield* Broker
  const settings = yield* ActorConfig
  const { service, subscription } = actor
  const subjects = subjectsOf(settings.prefix)
  const handler = makeInputHandler(actor, broker, subjects, settings)
  const intakeOf = (spec: ConsumerSpec, maxDeliveries = settings.maxDeliveries) =>
    makeIntake({ service, spec, broker, subjects, settings, maxDeliveries })

  // When the scope closes: first nothing more is taken, then the lanes finish, then what is left is handed back.
  const commands = yield* intakeOf(consumerOf("commands", service, [subjects.commands(service)], settings))
  const waiting = { ...settings, maxInFlight: -1 }
  const timers = yield* intakeOf(consumerOf("timers", service, [subjects.timers(service)], waiting), Infinity)
  const filters = subscription?.types.map((type) => subjects.events("*", "*", type)) ?? []
  const events = yield* intakeOf(consumerOf("events", service, filters, settings))
  const lanes = yield* makeLanes()

  /** A job of the actor's lane. A failure may have left the memory behind the journal, so it is loaded again. */
  const handle = (from: Intake, { delivery, meta }: Opened, key: Key, input: Effect.Effect<Input, IntakeError>) =>
    from
      .settle(
        delivery,
        Effect.flatMap(input, (value) =>
          handler
            .handle({ key, input: value, meta, redelivered: delivery.deliveryCount > 1 })
            .pipe(Effect.annotateLogs(logIds(service, key, meta, value)))
        ).pipe(Effect.onError(() => Effect.sync(() => handler.forget(key))))
      )
      .pipe(
        Effect.andThen(Effect.suspend(() => handler.snapshotIfDue(key))),
        Effect.annotateLogs({ service, key, command: meta.type, id: meta.id })
      )

  yield* serveQueries({ service, broker, lanes, ...(actor.view === undefined ? {} : { view: handler.view }) })

  yield* Effect.flatMap(Clock.currentTimeMillis, (now) =>
    Effect.sync(() => handler.forgetIdle(now - settings.idleAfterMs))
  ).pipe(Effect.delay(`${Math.ceil(settings.idleAfterMs / 2)} millis`), Effect.forever, Effect.forkScoped)

  yield* timers.receive((opened) =>
    lanes.push(`timer ${opened.key}`, takeTimer(broker, subjects.command(service, opened.key), timers, opened))
  )

  if (subscription !== undefined) {
    const wanted = new Set<string>(subscription.types)
    /** In the lane of the run, so that events of one run keep their order on the way to the actor's lane. */
    const route = Effect.fnUntraced(function* (opened: Opened) {
      const { delivery, meta } = opened
      // One of the subscription's types, since only these come here: `Input` contains them.
      const event = (yield* Effect.fromResult(readEvent(meta.type, yield* bodyOf(delivery)))) as Extract<
        Input,
        PublicEvent
      >
      const key = yield* routeOf(subscription, event)
      if (key === undefined) events.ack(delivery)
      else lanes.push(key, handle(events, opened, key, Effect.succeed(event)))
    })
    yield* events.receive((opened) => {
      // A server that knows one filter per consumer delivers every event.
      if (!wanted.has(opened.meta.type)) events.ack(opened.delivery)
      else lanes.push(`route ${opened.key}`, events.guard(opened.delivery, route(opened)))
    })
  }

  const readCommand = bodyReader(actor.commands)
  yield* commands.receive((opened) => {
    const { delivery, key, meta } = opened
    const around = idsAround(service, key, meta.subject)
    const input = Effect.flatMap(bodyOf(delivery), (body) =>
      Effect.fromResult(readCommand(meta.type, body, around))
    ).pipe(Effect.tapErrorTag("Undecodable", ({ reason }) => handler.refuseUnread(key, meta, reason)))
    lanes.push(key, handle(commands, opened, key, input))
  })
})

/**
 * Runs `actor` until the scope closes. Any number of processes may run the same actor: the journal of each key lets one
 * of them write. Answers the queries `list` and `show` when the actor has a view.
 */
export const actorLayer = <State, Input extends Tagged, Event extends Tagged>(
  actor: Actor<State, Input, Event>
): Layer.Layer<never, BrokerFault, Broker | ActorConfig> => Layer.effectDiscard(make(actor))
