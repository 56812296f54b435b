/** The actors of one service that this process has in memory, and how they get there: snapshot, then the journal's tail. */
import { contracts, defined, type Key, type Subjects } from "@reprise/protocol"
import { Clock, Effect, Result, Schema } from "effect"
import type { Actor, Tagged } from "../Actor.ts"
import type { ActorSettings } from "../ActorConfig.ts"
import type { BrokerShape, Sequence, StoredMessage } from "../broker/Broker.ts"
import type { BrokerFault } from "../broker/faults.ts"
import { PoisonMessage } from "../DeadLetter.ts"
import { eventsReader, type JournalEntry, readEntry } from "../JournalEntry.ts"
import type { Sample } from "../metrics/metrics.ts"
import { StepBegun, stepAfter } from "../metrics/stepTimes.ts"
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
  /** Where its trace began: the span of its first decision. Undefined: it has decided nothing yet. */
  traceparent: string | undefined
  /** The step that it is in, of an actor that has steps. */
  step: StepBegun | undefined
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
  readonly sequence: Sequence
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
  receipts: Schema.Array(Schema.Tuple([Schema.String, Schema.Int])),
  /** Snapshots of earlier versions lack it, and are ignored: the journal has it. */
  traceparent: Schema.String,
  step: Schema.optionalKey(StepBegun)
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
  traceparent: snapshot?.traceparent,
  step: snapshot?.step,
  usedAt: now,
  view: makeViewMark()
})

/** Makes an entry the last one that the actor is known by; gives what that adds to the metrics. */
export const follow = <State>(
  to: LoadedActor<State>,
  state: State,
  { entry, sequence }: WrittenEntry
): ReadonlyArray<Sample> => {
  const { ended, step } = stepAfter(to.step, entry)
  to.state = state
  to.sequence = sequence
  to.receipts.add(entry.input.id, sequence)
  to.eventsSinceSnapshot += entry.events.length
  to.traceparent ??= entry.traceparent
  to.step = step
  return ended
}

/** Applies journal messages to a loaded actor, one after the other. */
const makeReplay = <State, Input extends Tagged, Event extends Tagged>(actor: Actor<State, Input, Event, Tagged>) => {
  const readEvents = eventsReader(actor.journal)
  const apply = (to: LoadedActor<State>, { subject, sequence }: StoredMessage, body: string) =>
    Result.flatMap(readEntry(body), (entry) =>
      Result.map(readEvents(entry.events), (events): WrittenEntry => {
        const written = { entry, sequence }
        // Whoever wrote it has measured it.
        follow(to, events.reduce(actor.evolve, to.state), written)
        return written
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

  const writeSnapshot = (key: Key, loaded: LoadedActor<State>, traceparent: string) => {
    loaded.eventsSinceSnapshot = 0
    const { receipts, sequence, state, step } = loaded
    const snapshot: Snapshot = {
      version: actor.snapshotVersion,
      sequence,
      state,
      receipts: receipts.all(),
      traceparent,
      ...defined({ step })
    }
    return broker.snapshots.put(`${name}.${key}`, JSON.stringify(snapshot))
  }

  const snapshotIfDue = Effect.fnUntraced(function* (key: Key) {
    const loaded = actors.get(key)
    if (loaded?.traceparent === undefined || loaded.eventsSinceSnapshot < settings.snapshotEvery) return
    yield* writeSnapshot(key, loaded, loaded.traceparent).pipe(
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
