/** Whether anything is under way, asked of the server: for tests. */
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

  /** Of the static consumers; readers of events come and go as they like. */
  const pending = async () => {
    let count = 0
    for (const stream of consumed) {
      for await (const info of jsm.consumers.list(stream)) {
        if (info.config.durable_name !== undefined) count += info.num_pending + info.num_ack_pending
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
