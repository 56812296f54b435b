/** Reads what is stored of one actor, and replays it (`reprise doctor --replay`). Writes nothing. */
import { contracts, type Key, subjects as subjectsOf } from "@reprise/protocol"
import { Effect } from "effect"
import type { Actor, Tagged } from "../Actor.ts"
import { ActorConfig } from "../ActorConfig.ts"
import { Broker } from "../broker/Broker.ts"
import type { BrokerFault } from "../broker/faults.ts"
import { readView } from "../runtime/views.ts"
import { type Replayed, replayJournal } from "./replayJournal.ts"

/** A kind of actor whose journals can be replayed. */
export type ActorReplay = (key: Key) => Effect.Effect<Replayed, BrokerFault, Broker | ActorConfig>

/**
 * @example
 * const replayed = yield* replayActor(runActor)(runId)
 */
export const replayActor = <State, Input extends Tagged, Event extends Tagged>(
  actor: Actor<State, Input, Event, Tagged>
): ActorReplay =>
  Effect.fnUntraced(function* (key) {
    const broker = yield* Broker
    const { host, prefix } = yield* ActorConfig
    const subjects = subjectsOf(prefix)
    // The view is read first: one that is written meanwhile would be newer than the journal that was read.
    const view = yield* broker.views.get(`${actor.service}.${key}`)
    const messages = yield* broker.read("journal", subjects.journal(contracts[actor.service].actor, key), 0)
    const stored = yield* Effect.forEach(messages, ({ body, sequence }) =>
      body.pipe(
        // An empty text is not an entry, and is reported as one that cannot be read.
        Effect.catchTag("BodyLost", () => Effect.succeed("")),
        Effect.map((text) => ({ sequence, body: text }))
      )
    )
    const sender = { service: actor.service, key, source: `/${actor.service}/${host}`, subjects }
    return replayJournal(actor, sender, stored, view === undefined ? undefined : readView(view.value))
  })
