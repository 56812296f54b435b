/**
 * An actor is a key, a journal and three pure functions (architecture: An actor works by durable intent).
 * State and events are plain JSON data. Nothing here knows JetStream, a clock or randomness.
 */
import {
  actorOf,
  type Host,
  type Key,
  type PublicEvent,
  type PublicEventType,
  type ServiceName
} from "@reprise/protocol"
import { type Result, Schema } from "effect"

/** Anything with a type name: commands, events, work. */
export interface Tagged {
  readonly _tag: string
}

/** How an input arrived. */
export interface Delivery {
  /** The message's id; the same at every redelivery. */
  readonly id: string
  /** The actor's key: the last token of the command's subject. */
  readonly key: Key
  /** When it is decided, ISO 8601 UTC. */
  readonly now: string
  /** Id of the message that led to it: of a refusal, the refused command's. */
  readonly causation?: string
}

/** Whether a message with this id was sent by that actor, because of its journal. */
export const isSentBy = (service: ServiceName, key: Key, id: string): boolean =>
  id.startsWith(`${actorOf[service]}.${key}.`)

/** A business no: recorded as a public `CommandRefused` event, and never retried. */
export class Refusal extends Schema.TaggedError<Refusal>()("Refusal", { reason: Schema.String }) {
  override get message() {
    return this.reason
  }
}

/** What an actor sends once its events are committed. Ids derive from the journal, so a repeat is dropped. */
export type Outgoing =
  | { readonly _tag: "SendCommand"; readonly service: ServiceName; readonly key: Key; readonly command: Tagged }
  | { readonly _tag: "PublishEvent"; readonly event: PublicEvent }
  | { readonly _tag: "RequestWork"; readonly host: Host; readonly work: Tagged }
  /** A command to the actor itself, delivered at `dueAt` (ISO 8601) or soon after; a stale one is refused by its state. */
  | { readonly _tag: "SetTimer"; readonly dueAt: string; readonly command: Tagged }

export const send = <Command extends Tagged>(service: ServiceName, key: Key, command: Command): Outgoing => ({
  _tag: "SendCommand",
  service,
  key,
  command
})
export const publish = (event: PublicEvent): Outgoing => ({ _tag: "PublishEvent", event })
export const requestWork = <Work extends Tagged>(host: Host, work: Work): Outgoing => ({
  _tag: "RequestWork",
  host,
  work
})
export const setTimer = <Command extends Tagged>(dueAt: string, command: Command): Outgoing => ({
  _tag: "SetTimer",
  dueAt,
  command
})

/** Public events that are an input of an actor, and whose actor they are an input of. */
export interface Subscription {
  readonly types: ReadonlyArray<PublicEventType>
  /** The actor's key; undefined: not for any actor of this service. */
  readonly route: (event: PublicEvent) => Key | undefined
}

export interface Actor<State, Input extends Tagged, Event extends Tagged> {
  readonly service: ServiceName
  /** Every command the actor takes, private ones of its own workers and timers included. */
  readonly commands: Schema.Codec<Exclude<Input, PublicEvent>, unknown>
  readonly subscription?: Subscription
  readonly journal: Schema.Codec<Event, unknown>
  readonly initial: State
  /**
   * What the input means in this state. No events: nothing to record (an input that does not concern the actor).
   * A refusal is an answer.
   */
  readonly decide: (state: State, input: Input, delivery: Delivery) => Result.Result<ReadonlyArray<Event>, Refusal>
  readonly evolve: (state: State, event: Event) => State
  /** What is sent after `events` led to `state`. */
  readonly react: (state: State, events: ReadonlyArray<Event>, delivery: Delivery) => ReadonlyArray<Outgoing>
  /** The run an actor belongs to, once known: the key token of the events it publishes. */
  readonly runOf: (state: State) => string | undefined
  /** The read model of one actor; undefined: none yet. */
  readonly view?: (state: State) => unknown
  /** Raised when the shape of State changes: older snapshots are then ignored and the journal replayed. */
  readonly snapshotVersion: number
}
