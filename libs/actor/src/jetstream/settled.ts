/** Asks the server whether anything is under way. */
import type { ConsumerConfig } from "@nats-io/jetstream"
import { attempt } from "@reprise/nats"
import { Effect, Schedule } from "effect"
import type { BrokerFault } from "../broker/faults.ts"
import { type Connection, fault } from "./Connection.ts"

const pause = "20 millis"

/** The last sequences of these streams: they differ when a message was stored meanwhile. */
const lastSequences = async ({ jsm }: Connection, streams: ReadonlyArray<string>) => {
  const infos = await Promise.all(streams.map((stream) => jsm.streams.info(stream)))
  return infos.map(({ state }) => state.last_seq).join()
}

/** The newest message that a consumer is for; 0: none. */
const lastFor = async ({ jsm }: Connection, stream: string, { filter_subject, filter_subjects }: ConsumerConfig) => {
  const filters = filter_subjects ?? [filter_subject ?? ">"]
  const newest = await Promise.all(filters.map((last_by_subj) => jsm.streams.getMessage(stream, { last_by_subj })))
  return Math.max(0, ...newest.map((message) => message?.seq ?? 0))
}

/**
 * How many messages the named consumers of a stream have not settled; readers of events come and go as they like. The
 * server acknowledges a message before it tells the consumers of it, so `num_pending` alone may miss one.
 */
const pendingOf = async (connection: Connection, stream: string) => {
  let count = 0
  for await (const { config, delivered, num_ack_pending, num_pending } of connection.jsm.consumers.list(stream)) {
    if (config.durable_name === undefined) continue
    const missed = Math.max(0, (await lastFor(connection, stream, config)) - delivered.stream_seq)
    count += missed + num_pending + num_ack_pending
  }
  return count
}

/**
 * Whether nothing is pending. Consumers are asked one after the other, so all could look idle while a message moves from
 * one to the next; but that stores something, and then the answer is no.
 */
const nothingPends = async (connection: Connection, consumed: ReadonlyArray<string>) => {
  const { journal } = connection.subjects.streams
  const before = await lastSequences(connection, [...consumed, journal])
  for (const stream of consumed) if ((await pendingOf(connection, stream)) > 0) return false
  return (await lastSequences(connection, [...consumed, journal])) === before
}

/** A server that is away has not settled anything. */
const look = (connection: Connection, consumed: ReadonlyArray<string>): Effect.Effect<boolean, BrokerFault> => {
  const operation = "look at the consumers"
  return attempt(operation, () => nothingPends(connection, consumed)).pipe(
    Effect.catchTag("RequestTimedOut", () => Effect.succeed(false)),
    Effect.mapError(fault(operation))
  )
}

/** Whether every command and event was handled: what is left to be done is work. */
export const makeDecided = (connection: Connection): Effect.Effect<boolean, BrokerFault> => {
  const { commands, events } = connection.subjects.streams
  return look(connection, [commands, events])
}

/** Waits until nothing is under way. */
export const makeSettled = (connection: Connection): Effect.Effect<void, BrokerFault> => {
  const { commands, events, work } = connection.subjects.streams
  return look(connection, [commands, events, work]).pipe(
    Effect.repeat({ until: (settled) => settled, schedule: Schedule.spaced(pause) }),
    Effect.asVoid
  )
}
