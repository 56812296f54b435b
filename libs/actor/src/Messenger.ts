/** Access to the services for code that is not an actor: it sends commands, publishes and reads events, and asks for read models. */
import { Context, Effect, Layer, type Stream } from "effect"
import { ActorConfig } from "./ActorConfig.ts"
import { Broker } from "./broker/Broker.ts"
import type { BrokerFault } from "./broker/faults.ts"
import { type Ask, makeAsk } from "./messenger/ask.ts"
import { type DeadLetters, makeDeadLetters } from "./messenger/deadLetters.ts"
import { type EventsOptions, makeReadEvents, type SeenEvent } from "./messenger/events.ts"
import { type Hosts, makeHosts } from "./messenger/hosts.ts"
import { type Live, makeLive } from "./messenger/live.ts"
import {
  type Lines,
  type List,
  makeLines,
  makeList,
  makeQuery,
  makeShow,
  type Query,
  type Show
} from "./messenger/queries.ts"
import { makePublish, makeSend, type Publish, type Send } from "./messenger/send.ts"

const make = Effect.gen(function* () {
  const broker = yield* Broker
  const settings = yield* ActorConfig
  const send = makeSend(broker, settings)
  const events = makeReadEvents(broker, settings)
  const query = makeQuery(broker, settings)
  return Messenger.of({
    send,
    ask: makeAsk(send, events),
    publish: makePublish(broker, settings),
    events,
    ...makeLive(broker, settings),
    ...makeDeadLetters(broker, settings),
    ...makeHosts(broker, settings),
    show: makeShow(query),
    list: makeList(query),
    lines: makeLines(query),
    query
  })
})

/**
 * For the command line, workers and other code at the edges. Actors do not use it: they send by `react`.
 *
 * What can surprise: a command that was sent is stored, not handled; `ask` waits until it was. Whether a service runs
 * shows only in queries (`not-running`) and in `ask` (`NoAnswer`).
 *
 * @example
 * const answered = Effect.gen(function* () {
 *   const messenger = yield* Messenger
 *   const question = yield* messenger.show.gate(escalationId)
 *   return yield* messenger.ask(to.gate(escalationId).AnswerEscalation({ choice, by, via }), { subject: question.runId })
 * })
 */
export class Messenger extends Context.Service<
  Messenger,
  DeadLetters &
    Hosts &
    Live & {
      /** Stores a command, encoded by its schema. Sent again with the same id, it is stored once. */
      readonly send: Send
      /**
       * Sends a command and waits for the event that answers it. Fails with `Refused` when the service refuses it, and with
       * `NoAnswer` when nothing answers in time: the command stays stored then. Asked again with the same id it is the same
       * command, and gets the same answer if `since` reaches back to it.
       *
       * Answers are looked for among the events of the command's run: the field `runId` of the command, else
       * `options.subject`, else the actor's key.
       */
      readonly ask: Ask
      /** Publishes an event that no actor journals. */
      readonly publish: Publish
      /** Public events in order, live, without gaps across reconnects; never ends. Events that cannot be read are left out. */
      readonly events: (options: EventsOptions) => Stream.Stream<SeenEvent, BrokerFault>
      readonly show: Show
      readonly list: List
      readonly lines: Lines
      readonly query: Query
    }
>()("@reprise/actor/Messenger") {
  static readonly layer: Layer.Layer<Messenger, never, Broker | ActorConfig> = Layer.effect(Messenger, make)
}
