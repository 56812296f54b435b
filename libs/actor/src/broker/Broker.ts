/**
 * The port to a message broker: the operations that the actor runtime needs. `JetStreamBroker` and `MemoryBroker` implement it,
 * and one suite of tests (`test/support/brokerContract.ts`) holds for both. A message id is stored at most once inside
 * the stream's window; a stored message is delivered at least once.
 */
import type { MessageMeta } from "@reprise/protocol"
import { Brand, Context, type Effect, type Scope, type Stream } from "effect"
import type { BodyLost, BrokerFault, BrokerFull, Conflict } from "./faults.ts"

export type StreamKind = "commands" | "work" | "events" | "journal" | "timers" | "dead"

const streamsByToken: Readonly<Record<string, StreamKind>> = {
  command: "commands",
  work: "work",
  event: "events",
  journal: "journal",
  timer: "timers",
  dead: "dead"
}

/** The stream that keeps a subject: the subject's second token says so. Undefined: none does. */
export const streamOf = (subject: string): StreamKind | undefined => {
  const from = subject.indexOf(".") + 1
  return streamsByToken[subject.slice(from, subject.indexOf(".", from))]
}

/** The header with the time at which a timer is due, ISO 8601. */
export const dueHeader = "reprise-due"

/** A message to be stored. */
export interface Message {
  readonly subject: string
  readonly meta: MessageMeta
  /** JSON text of any size: a large one is kept in the object store, and readers do not notice. */
  readonly body: string
  /** For timers: when it is due, ISO 8601; stored as the header `reprise-due`. */
  readonly dueAt?: string
}

/** The place of a stored message in its stream: rising, from 1. Only a broker gives one, once the message is stored. */
export type Sequence = number & Brand.Brand<"Sequence">
export const Sequence = Brand.nominal<Sequence>()

export interface StoredMessage {
  readonly subject: string
  readonly sequence: Sequence
  /** A header's value, `""` when the message does not have it. */
  readonly header: (name: string) => string
  readonly body: Effect.Effect<string, BrokerFault | BodyLost>
}

/** A stored message on its way to a consumer. Unless `ack` or `nak` settles it, it is delivered again after the ack wait. */
export interface Delivered extends StoredMessage {
  /** How often the message was delivered, this time included. */
  readonly deliveryCount: number
  readonly ack: () => void
  /** Hands it back: it is delivered again, after `delayMs` if given. */
  readonly nak: (delayMs?: number) => void
  /** A heartbeat: starts the ack wait again. */
  readonly working: () => void
}

/** A named consumer that stays: the broker keeps its position, and all who use the name share it. */
export interface ConsumerSpec {
  readonly stream: "commands" | "work" | "events" | "timers"
  readonly durable: string
  /** Subjects. Messages of other subjects may arrive too, if the server supports only one filter per consumer. */
  readonly filters: ReadonlyArray<string>
  /** Messages delivered and not yet settled, over all who share the consumer; -1: no limit. */
  readonly maxInFlight: number
  readonly ackWaitMs: number
}

/** What a consumer has not done yet, over all who share it. */
export interface Lag {
  /** Not delivered yet. */
  readonly waiting: number
  /** Delivered and not settled. */
  readonly unsettled: number
}

/** Where reading the event stream starts. `now`: after the last event stored when reading begins. */
export type EventsFrom = "now" | "beginning" | { readonly sequence: number } | { readonly since: string }

/** A value with its key. */
export interface BucketEntry {
  readonly key: string
  readonly value: string
}

/** A key-value store: the last value of each key, JSON text of any size. */
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
  /** Removes a key for good; one that does not exist is fine. */
  readonly remove: (key: string) => Effect.Effect<void, BrokerFault>
  /** Every value whose key starts with `<prefix>.`. What did not change since an earlier list may be the same object. */
  readonly list: (prefix: string) => Effect.Effect<ReadonlyArray<BucketEntry>, BrokerFault>
}

/** Texts of any size by name, in the object store. */
export interface Transcripts {
  /** Replaces an earlier text of that name. */
  readonly put: (name: string, text: string) => Effect.Effect<void, BrokerFull | BrokerFault>
  /** Undefined: there is no text of that name. */
  readonly get: (name: string) => Effect.Effect<string | undefined, BrokerFault>
  /** The names that start with this. */
  readonly list: (prefix: string) => Effect.Effect<ReadonlyArray<string>, BrokerFault>
  /** A name that does not exist is fine. */
  readonly remove: (name: string) => Effect.Effect<void, BrokerFault>
}

/** How many messages of a consumer may come now. */
export type Room = (spec: ConsumerSpec) => number

/** Answers one query: takes the request's JSON text, gives the reply's. */
export type QueryHandler = (request: string) => Effect.Effect<string>

export interface BrokerShape {
  /**
   * Appends to a journal subject when its last message is the one at `expected` (0: none yet); gives the new sequence.
   * A write whose answer was lost is resolved by reading back: succeeds if this message was stored.
   */
  readonly append: (message: Message, expected: number) => Effect.Effect<Sequence, Conflict | BrokerFull | BrokerFault>
  /** The last message of a subject (`*` stands for any token) as the leader knows it. */
  readonly last: (stream: StreamKind, subject: string) => Effect.Effect<StoredMessage | undefined, BrokerFault>
  /** The first message of a subject (`*` stands for any token) after the sequence `after`. */
  readonly next: (
    stream: StreamKind,
    subject: string,
    after: number
  ) => Effect.Effect<StoredMessage | undefined, BrokerFault>
  /**
   * Messages of a subject (`*` stands for any token) after the sequence `after`, in order: all that were stored when it
   * was called. A subject that is purged meanwhile is empty, never a part of what it was.
   */
  readonly read: (
    stream: StreamKind,
    subject: string,
    after: number
  ) => Effect.Effect<ReadonlyArray<StoredMessage>, BrokerFault>
  /** Removes every message of a subject (`*` stands for any token) for good, with its large bodies. */
  readonly purge: (stream: StreamKind, subject: string) => Effect.Effect<void, BrokerFault>
  /** Removes one message for good, with its large body; one that does not exist is fine. */
  readonly remove: (stream: StreamKind, sequence: number) => Effect.Effect<void, BrokerFault>
  /** Stores all, sent in this order without waiting in between. A repeat with the same ids stores nothing twice. */
  readonly publish: (messages: ReadonlyArray<Message>) => Effect.Effect<void, BrokerFull | BrokerFault>
  /** Makes the consumer and calls `take` for each delivery until the scope closes, reconnecting as needed. */
  readonly consume: (
    spec: ConsumerSpec,
    take: (delivery: Delivered) => void
  ) => Effect.Effect<void, BrokerFault, Scope.Scope>
  /**
   * Makes the consumers and calls `take` for each delivery until the scope closes, as long as there is room for it. What
   * comes without room is handed back. Whoever has more room than before calls what this gives.
   */
  readonly pull: (
    specs: ReadonlyArray<ConsumerSpec>,
    room: Room,
    take: (delivery: Delivered) => void
  ) => Effect.Effect<() => void, BrokerFault, Scope.Scope>
  /** What a consumer has not done yet, as the broker knows it now; undefined: there is no such consumer. */
  readonly lag: (consumer: Pick<ConsumerSpec, "stream" | "durable">) => Effect.Effect<Lag | undefined, BrokerFault>
  /** Events of these subjects in order, without gaps, also across reconnects; never ends. */
  readonly follow: (subjects: ReadonlyArray<string>, from: EventsFrom) => Stream.Stream<StoredMessage, BrokerFault>
  readonly snapshots: Bucket
  readonly views: Bucket
  readonly transcripts: Transcripts
  /**
   * Answers the queries of these subjects until the scope closes, together with others who serve the same. Administrators
   * see `name`.
   */
  readonly serve: (
    name: string,
    handlers: Readonly<Record<string, QueryHandler>>
  ) => Effect.Effect<void, BrokerFault, Scope.Scope>
  /** The answer to a query; undefined when nobody serves it. */
  readonly request: (subject: string, request: string) => Effect.Effect<string | undefined, BrokerFault>
  /** Tells whoever listens now. Kept nowhere, never repeated, and lost while the connection is. */
  readonly announce: (subject: string, body: string) => Effect.Effect<void>
  /** What is announced on these subjects (`*` stands for any token) from now on; never ends by itself. */
  readonly hear: (subject: string) => Stream.Stream<{ readonly subject: string; readonly body: string }>
  /** Completes once a message could not be stored because the broker's quota, or its disk, is full. */
  readonly full: Effect.Effect<BrokerFull>
  /** Waits until every consumer (timers aside) has settled everything and nothing new was stored meanwhile. */
  readonly settled: Effect.Effect<void, BrokerFault>
  /** Whether every consumer of commands and events has settled everything: only work may wait. */
  readonly decided: Effect.Effect<boolean, BrokerFault>
}

/**
 * The service behind `actorLayer`, `workerLayer` and `Messenger`. Services do not use it themselves; pruning and the
 * archive do, for `purge` and `transcripts`. What can surprise: a write that fails with `BrokerFault` may have
 * happened. `append` resolves that by reading back; `publish` does by repeating the same ids.
 *
 * @example
 * const archived = Broker.use(({ transcripts }) => transcripts.list(`session/${sessionId}/`))
 */
export class Broker extends Context.Service<Broker, BrokerShape>()("@reprise/actor/Broker") {}

/**
 * Waits until nothing is under way: every command, event and piece of work is settled, and none led to another.
 * Timers that are not due do not count. For tests.
 */
export const drain = Broker.use((broker) => broker.settled)
