/**
 * What the actor runtime needs of a message broker, in its own words. Two implementations, one contract suite.
 * Storing is at most once per message id inside the stream's window; delivering is at least once.
 */
import type { MessageMeta, ServiceName } from "@reprise/protocol"
import { Context, type Effect, type Scope, type Stream } from "effect"
import type { BodyLost, BrokerFault, BrokerFull, Conflict } from "./faults.ts"

export type StreamKind = "commands" | "work" | "events" | "journal" | "timers" | "dead"

/** A message to be stored. */
export interface Message {
  readonly subject: string
  readonly meta: MessageMeta
  /** JSON text. Of any size: a large one is kept in the object store, and readers do not notice. */
  readonly body: string
  /** For timers: when it is to be delivered, ISO 8601. */
  readonly dueAt?: string
}

export interface StoredMessage {
  readonly subject: string
  /** Its place in the stream, from 1, rising. */
  readonly sequence: number
  /** `""` where there is none. */
  readonly header: (name: string) => string
  readonly body: Effect.Effect<string, BrokerFault | BodyLost>
}

/** A stored message on its way to a consumer. Settled by `ack` or `nak`; else delivered again after the ack wait. */
export interface Delivered extends StoredMessage {
  /** From 1. */
  readonly deliveryCount: number
  readonly ack: () => void
  /** Delivers it again, after `delayMs` if given. */
  readonly nak: (delayMs?: number) => void
  /** Starts the ack wait anew. */
  readonly working: () => void
}

/** A static named consumer: its position is the broker's, shared by all who use the name. */
export interface ConsumerSpec {
  readonly stream: "commands" | "work" | "events" | "timers"
  readonly durable: string
  /** Messages of other subjects may arrive too, when the server knows only one filter. */
  readonly filters: ReadonlyArray<string>
  /** Delivered and not yet settled, over all who share the consumer; -1: no limit. */
  readonly maxInFlight: number
  readonly ackWaitMs: number
}

/** Where reading the event stream starts. `now`: after the last event stored when reading begins. */
export type EventsFrom = "now" | "beginning" | { readonly sequence: number } | { readonly since: string }

/** A bucket keeps the last value per key, JSON text of any size. */
export interface Bucket {
  readonly get: (
    key: string
  ) => Effect.Effect<{ readonly value: string; readonly revision: number } | undefined, BrokerFault>
  /** Gives the new revision. With `expected` (0: no value yet), fails with a conflict when the revision is another. */
  readonly put: (
    key: string,
    value: string,
    expected?: number
  ) => Effect.Effect<number, Conflict | BrokerFull | BrokerFault>
  /** Forgets a key, and leaves no trace of it. */
  readonly remove: (key: string) => Effect.Effect<void, BrokerFault>
  /** Every value whose key starts with `<prefix>.`. */
  readonly list: (
    prefix: string
  ) => Effect.Effect<ReadonlyArray<{ readonly key: string; readonly value: string }>, BrokerFault>
}

/** Texts of any size by name, in the object store. */
export interface Transcripts {
  /** Replaces what is there under the name. */
  readonly put: (name: string, text: string) => Effect.Effect<void, BrokerFull | BrokerFault>
  /** undefined: there is none. */
  readonly get: (name: string) => Effect.Effect<string | undefined, BrokerFault>
  /** The names that start with this. */
  readonly list: (prefix: string) => Effect.Effect<ReadonlyArray<string>, BrokerFault>
  /** One that is not there is fine. */
  readonly remove: (name: string) => Effect.Effect<void, BrokerFault>
}

/** Answers one query: takes the request's JSON text, gives the reply's. */
export type QueryHandler = (request: string) => Effect.Effect<string>

export interface BrokerShape {
  /**
   * Appends to a journal subject when its last message is the one at `expected` (0: none yet); gives the new sequence.
   * A write whose answer was lost is resolved by reading back: succeeds if this message was stored.
   */
  readonly append: (message: Message, expected: number) => Effect.Effect<number, Conflict | BrokerFull | BrokerFault>
  /** The last message of a subject as the leader knows it. */
  readonly last: (stream: StreamKind, subject: string) => Effect.Effect<StoredMessage | undefined, BrokerFault>
  /**
   * Messages of a subject (`*` stands for any token) after the sequence `after`, in order: all there were when it was
   * called, or the first `limit`.
   */
  readonly read: (
    stream: StreamKind,
    subject: string,
    after: number,
    limit?: number
  ) => Effect.Effect<ReadonlyArray<StoredMessage>, BrokerFault>
  /** Removes every message of a subject (`*` stands for any token) for good, with its large bodies. */
  readonly purge: (stream: StreamKind, subject: string) => Effect.Effect<void, BrokerFault>
  /** Stores all, sent in this order without waiting in between. A repeat with the same ids stores nothing twice. */
  readonly publish: (messages: ReadonlyArray<Message>) => Effect.Effect<void, BrokerFull | BrokerFault>
  /** Makes the consumer and calls `take` for each delivery until the scope closes, reconnecting as needed. */
  readonly consume: (
    spec: ConsumerSpec,
    take: (delivery: Delivered) => void
  ) => Effect.Effect<void, BrokerFault, Scope.Scope>
  /**
   * Makes the consumers; gives what waits for one delivery of any of them. One waits at a time. What comes when nobody
   * waits is handed back.
   */
  readonly pull: (
    specs: ReadonlyArray<ConsumerSpec>
  ) => Effect.Effect<Effect.Effect<Delivered>, BrokerFault, Scope.Scope>
  /** Events of these subjects in order, without gaps, also across reconnects; never ends. */
  readonly follow: (subjects: ReadonlyArray<string>, from: EventsFrom) => Stream.Stream<StoredMessage, BrokerFault>
  readonly snapshots: Bucket
  readonly views: Bucket
  readonly transcripts: Transcripts
  /** Answers queries until the scope closes, together with others who serve the same name. */
  readonly serve: (
    service: ServiceName,
    handlers: Readonly<Record<string, QueryHandler>>
  ) => Effect.Effect<void, BrokerFault, Scope.Scope>
  /** The answer to a query; undefined when nobody serves it. */
  readonly request: (subject: string, request: string) => Effect.Effect<string | undefined, BrokerFault>
  /** Waits until every consumer (timers aside) has settled all there is and nothing new was stored meanwhile. */
  readonly settled: Effect.Effect<void, BrokerFault>
}

export class Broker extends Context.Service<Broker, BrokerShape>()("@reprise/actor/Broker") {}
