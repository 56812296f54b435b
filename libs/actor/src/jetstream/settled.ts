/** Whether anything is under way, asked of the server: for tests. */
import type { ConsumerConfig } from "@nats-io/jetstream"
import { attempt } from "@reprise/nats"
import { Effect } from "effect"
import type { BrokerFault } from "../broker/faults.ts"
import { type Connection, fault } from "./Connection.ts"

const pollMs = 20

export const makeSettled = ({ jsm, subjects }: Connection): Effect.Effect<void, BrokerFault> => {
  const { commands, events, journal, work } = subjects.streams
  const consumed = [commands, events, work]

  const stored = async () => {
    const infos = await Promise.all([...consumed, journal].map((stream) => jsm.streams.info(stream)))
    return infos.map(({ state }) => state.last_seq).join()
  }

  /** The newest message that a consumer is to be given; 0: there is none. */
  const lastFor = async (stream: string, { filter_subject, filter_subjects }: ConsumerConfig) => {
    const filters = filter_subjects ?? [filter_subject ?? ">"]
    const newest = await Promise.all(filters.map((last_by_subj) => jsm.streams.getMessage(stream, { last_by_subj })))
    return Math.max(0, ...newest.map((message) => message?.seq ?? 0))
  }

  /**
   * Of the static consumers; readers of events come and go as they like. The server acknowledges a message before it
   * tells the consumers of it: `num_pending` alone may miss one.
   */
  const pending = async () => {
    let count = 0
    for (const stream of consumed) {
      for await (const { config, delivered, num_ack_pending, num_pending } of jsm.consumers.list(stream)) {
        if (config.durable_name === undefined) continue
        const missed = Math.max(0, (await lastFor(stream, config)) - delivered.stream_seq)
        count += missed + num_pending + num_ack_pending
      }
    }
    return count
  }

  // Consumers are looked at one after the other, so all could look idle while a message wanders from one to the next:
  // that stores something.
  const quiet = attempt("look at the consumers", async () => {
    const before = await stored()
    return (await pending()) === 0 && (await stored()) === before
  }).pipe(
    // A server that is away has not settled anything.
    Effect.catchTag("RequestTimedOut", () => Effect.succeed(false)),
    Effect.mapError(fault("look at the consumers"))
  )

  const wait: Effect.Effect<void, BrokerFault> = Effect.flatMap(quiet, (isQuiet) =>
    isQuiet ? Effect.void : Effect.andThen(Effect.sleep(`${pollMs} millis`), wait)
  )
  return wait
}
