/** The actors of one service that this process has in memory, and how they get there: snapshot, then the journal's tail. */
import { contracts, type Key, type Subjects } from "@reprise/protocol"
import { Clock, Effect, Result, Schema } from "effect"
import type { Actor, Tagged } from "../Actor.ts"
import type { ActorSettings } from "../ActorConfig.ts"
import type { BrokerShape, StoredMessage } from "../broker/Broker.ts"
import { type JournalEntry, readEntry } from "../JournalEntry.ts"
import { bodyOf } from "../wire.ts"
import { Poison, thrown } from "./Poison.ts"
import { makeReceipts, type Receipts } from "./Receipts.ts"
import { readSnapshot, writeSnapshot } from "./Snapshot.ts"
import { makeViewMark, type ViewMark } from "./views.ts"

/** One actor as this process knows it. */
export interface Loaded<State> {
  state: State
  /** Of its last journal entry, 0 for none. */
  sequence: number
  receipts: Receipts
  eventsSinceSnapshot: number
  usedAt: number
  readonly view: ViewMark
}

/** The last entry that a load found, with its sequence: whoever wrote it may have died before sending. */
export interface LastEntry {
  readonly entry: JournalEntry
  readonly sequence: number
}

export const makeActorMemory = <State, Input extends Tagged, Event extends Tagged>(
  actor: Actor<State, Input, Event>,
  broker: BrokerShape,
  subjects: Subjects,
  settings: ActorSettings
) => {
  const name = contracts[actor.service].actor
  const decodeEvents = Schema.decodeUnknownResult(Schema.Array(actor.journal))
  const loaded = new Map<Key, Loaded<State>>()

  const apply = (into: Loaded<State>, message: StoredMessage, body: string): Result.Result<LastEntry, Poison> =>
    Result.flatMap(readEntry(body), (entry) =>
      Result.map(decodeEvents(entry.events), (events) => {
        into.state = events.reduce(actor.evolve, into.state)
        into.sequence = message.sequence
        into.receipts.add(entry.input.id, message.sequence)
        into.eventsSinceSnapshot += events.length
        return { entry, sequence: message.sequence }
      })
    ).pipe(
      Result.mapError(
        (error) =>
          new Poison({
            reason: `The journal of ${message.subject} cannot be read at ${message.sequence}: ${error.message}`
          })
      )
    )

  const replay = (into: Loaded<State>, message: StoredMessage, body: string) => {
    try {
      return apply(into, message, body)
    } catch (cause) {
      return Result.fail(thrown(`${actor.service}, evolve at ${message.subject} ${message.sequence}`, cause))
    }
  }

  /** Brings an actor up to date with its journal; gives the last entry that was new. */
  const catchUp = Effect.fnUntraced(function* (key: Key, actorInMemory: Loaded<State>) {
    let newest: LastEntry | undefined
    for (const message of yield* broker.read("journal", subjects.journal(name, key), actorInMemory.sequence)) {
      newest = yield* Effect.fromResult(replay(actorInMemory, message, yield* bodyOf(message)))
    }
    return newest
  })

  const load = Effect.fnUntraced(function* (key: Key) {
    const stored = yield* broker.snapshots.get(`${name}.${key}`)
    const snapshot = stored === undefined ? undefined : readSnapshot(stored.value, actor.snapshotVersion)
    const fresh: Loaded<State> = {
      state: snapshot === undefined ? actor.initial : (snapshot.state as State),
      sequence: snapshot?.sequence ?? 0,
      receipts: makeReceipts(settings.receiptsKept, snapshot?.receipts),
      eventsSinceSnapshot: 0,
      usedAt: yield* Clock.currentTimeMillis,
      view: makeViewMark()
    }
    const newest = yield* catchUp(key, fresh)
    loaded.set(key, fresh)
    return { actor: fresh, newest }
  })

  const snapshot = Effect.fnUntraced(function* (key: Key, actorInMemory: Loaded<State>) {
    actorInMemory.eventsSinceSnapshot = 0
    const { receipts, sequence, state } = actorInMemory
    const version = actor.snapshotVersion
    yield* broker.snapshots.put(`${name}.${key}`, writeSnapshot({ version, sequence, state, receipts: receipts.all() }))
  })

  return {
    /** The actor, if it is in memory. */
    peek: (key: Key) => loaded.get(key),
    load,
    catchUp,
    snapshot,
    /** The next use loads it again. */
    forget: (key: Key) => void loaded.delete(key),
    /** Forgets every actor that was not used since `before` (milliseconds since the epoch). */
    forgetIdle: (before: number) => {
      for (const [key, { usedAt }] of loaded) if (usedAt < before) loaded.delete(key)
    },
    size: () => loaded.size
  }
}
