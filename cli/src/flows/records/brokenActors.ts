/** Which actors of a run cannot be read, and what their journals hold. */
import { ActorConfig, Broker, Messenger, QueryFailed } from "@reprise/actor"
import { contracts, subjects } from "@reprise/protocol"
import { Effect } from "effect"
import { type ActorName, actorsOf, type RunRecord } from "./RunRecord.ts"

export interface BrokenActor extends ActorName {
  /** Its journal as it is stored, oldest first; an entry whose body is gone is empty. */
  readonly journal: ReadonlyArray<string>
}

const isBroken = Effect.fnUntraced(function* ({ key, service }: ActorName) {
  const messenger = yield* Messenger
  const failed = yield* Effect.flip(messenger.query(service, "show", { id: key })).pipe(
    Effect.orElseSucceed(() => undefined)
  )
  if (failed instanceof QueryFailed && failed.code !== "bad-journal" && failed.code !== "not-found")
    return yield* failed
  return failed?.code === "bad-journal"
})

const journalOf = Effect.fnUntraced(function* ({ key, service }: ActorName) {
  const broker = yield* Broker
  const { prefix } = yield* ActorConfig
  const stored = yield* broker.read("journal", subjects(prefix).journal(contracts[service].actor, key), 0)
  return yield* Effect.forEach(stored, ({ body }) => Effect.catchTag(body, "BodyLost", () => Effect.succeed("")))
})

/** Asks the services: only they know how to read their journals. */
export const brokenActors = Effect.fn("brokenActors")(function* (record: RunRecord) {
  const broken = yield* Effect.filter(actorsOf(record), isBroken)
  return yield* Effect.forEach(broken, (actor) =>
    Effect.map(journalOf(actor), (journal): BrokenActor => ({ ...actor, journal }))
  )
})
