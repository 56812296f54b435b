/** The actors of one service that this process has in memory, and how they get there: snapshot, then the journal's tail. */
import { contracts, type Key, type Subjects } from "@reprise/protocol"
import { Clock, Effect, Result, Schema } from "effect"
import type { Actor, Tagged } from "../Actor.ts"
import type { ActorSettings } from "../ActorConfig.ts"
import type { BrokerShape, StoredMessage } from "../broker/Broker.ts"
import type { BrokerFault } from "../broker/faults.ts"
import { PoisonMessage } from "../DeadLetter.ts"
import { type JournalEntry, readEntry } from "../JournalEntry.ts"
import { bodyOf, textReader, type Undecodable } from "../wire.ts"
import { makeReceipts, type Receipts } from "./Receipts.ts"
import type { ReadSubjects } from "./readSubjects.ts"
import { makeViewMark, type ViewMark } from "./views.ts"

/** One actor as this process knows it. It may be behind the journal: another process may have written. */
export interface LoadedActor<State> {
  state: State
  /** Of its last journal entry, 0 for none. */
  sequence: number
  /** The state holds all that was journalled before this arrival: inputs up to it may be answered without a write. */
  freshFor: number
  readonly receipts: Receipts
  /** Answers to its inputs, by the ids of the inputs. */
  readonly earlier: ReadSubjects
  /** What the streams have of what it may send, by the ids of the messages. */
  readonly sent: ReadSubjects
  eventsSinceSnapshot: number
  /** Milliseconds since the epoch. */
  usedAt: number
  readonly view: ViewMark
}

/** Counts the inputs that this process received, for one kind of actor. */
export interface Arrivals {
  last: number
}

/** An entry with its place in the journal. */
export interface WrittenEntry {
  readonly entry: JournalEntry
  readonly sequence: number
}

export interface ActorMemory<State> {
  /** The actor, if it is in memory. */
  readonly peek: (key: Key) => LoadedActor<State> | undefined
  /** Brings an actor into memory. `newest`: the last entry found; the process that wrote it may have died before sending. */
  readonly load: (
    key: Key
  ) => Effect.Effect<
    { readonly loaded: LoadedActor<State>; readonly newest: WrittenEntry | undefined },
    PoisonMessage | Undecodable | BrokerFault
  >
  /** Applies what other processes wrote meanwhile; gives the last entry that was new. */
  readonly catchUp: (
    key: Key,
    loaded: LoadedActor<State>
  ) => Effect.Effect<WrittenEntry | undefined, PoisonMessage | Undecodable | BrokerFault>
  /** Writes a snapshot if enough events happened since the last one. Without it, loading is only slower. */
  readonly snapshotIfDue: (key: Key) => Effect.Effect<void>
  /** The next use loads the actor again. */
  readonly forget: (key: Key) => void
  /** Forgets every actor that was not used since `before` (milliseconds since the epoch). */
  readonly forgetIdle: (before: number) => void
}

const Snapshot = Schema.Struct({
  version: Schema.Int,
  sequence: Schema.Int,
  state: Schema.Unknown,
  receipts: Schema.Array(Schema.Tuple([Schema.String, Schema.Int]))
})
type Snapshot = typeof Snapshot.Type
const decodeSnapshot = textReader(Snapshot)

/** Reads a snapshot; one of another version, or an unreadable one, is ignored. */
export const readSnapshot = (text: string, version: number): Snapshot | undefined => {
  const snapshot = Result.getOrUndefined(decodeSnapshot(text))
  return snapshot?.version === version ? snapshot : undefined
}

const restore = <State>(
  initial: State,
  snapshot: Snapshot | undefined,
  receiptsKept: number,
  now: number
): LoadedActor<State> => ({
  // A snapshot of this version holds this actor's own plain state.
  state: snapshot === undefined ? initial : (snapshot.state as State),
  sequence: snapshot?.sequence ?? 0,
  freshFor: 0,
  receipts: makeReceipts(receiptsKept, snapshot?.receipts),
  earlier: new Map(),
  sent: new Map(),
  eventsSinceSnapshot: 0,
  usedAt: now,
  view: makeViewMark()
})

/** Applies journal messages to a loaded actor, one after the other. */
const makeReplay = <State, Input extends Tagged, Event extends Tagged>(actor: Actor<State, Input, Event, Tagged>) => {
  const decodeEvents = Schema.decodeUnknownResult(Schema.Array(actor.journal))
  const apply = (to: LoadedActor<State>, { subject, sequence }: StoredMessage, body: string) =>
    Result.flatMap(readEntry(body), (entry) =>
      Result.map(decodeEvents(entry.events), (events): WrittenEntry => {
        to.state = events.reduce(actor.evolve, to.state)
        to.sequence = sequence
        to.receipts.add(entry.input.id, sequence)
        to.eventsSinceSnapshot += events.length
        return { entry, sequence }
      })
    ).pipe(
      Result.mapError(
        ({ message }) =>
          new PoisonMessage({ reason: `The journal of ${subject} cannot be read at ${sequence}: ${message}` })
      )
    )
  return (to: LoadedActor<State>, message: StoredMessage, body: string): Result.Result<WrittenEntry, PoisonMessage> => {
    try {
      return apply(to, message, body)
    } catch (cause) {
      const operation = `${actor.service}, evolve at ${message.subject} ${message.sequence}`
      return Result.fail(PoisonMessage.thrownBy(operation, cause))
    }
  }
}

export const makeActorMemory = <State, Input extends Tagged, Event extends Tagged>(
  actor: Actor<State, Input, Event, Tagged>,
  broker: BrokerShape,
  subjects: Subjects,
  settings: ActorSettings,
  arrivals: Arrivals
): ActorMemory<State> => {
  const name = contracts[actor.service].actor
  const replay = makeReplay(actor)
  const actors = new Map<Key, LoadedActor<State>>()

  const catchUp = Effect.fnUntraced(function* (key: Key, loaded: LoadedActor<State>) {
    let newest: WrittenEntry | undefined
    const freshFor = arrivals.last
    for (const message of yield* broker.read("journal", subjects.journal(name, key), loaded.sequence)) {
      newest = yield* Effect.fromResult(replay(loaded, message, yield* bodyOf(message)))
    }
    loaded.freshFor = freshFor
    return newest
  })

  const load = Effect.fnUntraced(function* (key: Key) {
    const stored = yield* broker.snapshots.get(`${name}.${key}`)
    const snapshot = stored === undefined ? undefined : readSnapshot(stored.value, actor.snapshotVersion)
    const loaded = restore(actor.initial, snapshot, settings.receiptsKept, yield* Clock.currentTimeMillis)
    const newest = yield* catchUp(key, loaded)
    actors.set(key, loaded)
    return { loaded, newest }
  })

  const writeSnapshot = (key: Key, loaded: LoadedActor<State>) => {
    loaded.eventsSinceSnapshot = 0
    const { receipts, sequence, state } = loaded
    const snapshot: Snapshot = { version: actor.snapshotVersion, sequence, state, receipts: receipts.all() }
    return broker.snapshots.put(`${name}.${key}`, JSON.stringify(snapshot))
  }

  const snapshotIfDue = Effect.fnUntraced(function* (key: Key) {
    const loaded = actors.get(key)
    if (loaded === undefined || loaded.eventsSinceSnapshot < settings.snapshotEvery) return
    yield* writeSnapshot(key, loaded).pipe(
      Effect.catch((error) => Effect.logWarning(`no snapshot was written: ${error.message}`))
    )
  })

  return {
    peek: (key) => actors.get(key),
    load,
    catchUp,
    snapshotIfDue,
    forget: (key) => void actors.delete(key),
    forgetIdle: (before) => {
      for (const [key, { usedAt }] of actors) if (usedAt < before) actors.delete(key)
    }
  }
}
