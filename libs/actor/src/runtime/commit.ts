/** Writing a decision to the journal, and sending what it leads to: now, and again when a process may have died before. */
import type { Key } from "@reprise/protocol"
import { Clock, Effect } from "effect"
import type { Tagged } from "../Actor.ts"
import { type BrokerShape, type Message, streamOf } from "../broker/Broker.ts"
import { type JournalEntry, readEntry } from "../JournalEntry.ts"
import { recordEvents } from "../metrics/eventMetrics.ts"
import { record } from "../metrics/metrics.ts"
import { bodyOf } from "../wire.ts"
import { follow, type LoadedActor, type WrittenEntry } from "./ActorMemory.ts"
import { type ActorRuntime, journalSubject, senderOf } from "./ActorRuntime.ts"
import type { Decided } from "./decideInput.ts"
import { messagesOf } from "./outbox.ts"
import { type ReadSubjects, readSubject } from "./readSubjects.ts"

/**
 * An entry younger than this is sent again when its actor is loaded, since its writer may have died before it sent.
 * Shorter than the time for which the streams drop repeats (10 minutes), so that nothing is stored twice.
 */
const sendAgainWithinMs = 5 * 60_000

/** The streams keep commands and work for a week; of what is older nobody can say whether it was sent. */
const knownForMs = 6 * 24 * 60 * 60_000

/** Whether the streams drop repeats of what was decided so long ago. Of the future a clock that was set knows nothing. */
const isRecent = (ageMs: number): boolean => 0 <= ageMs && ageMs < sendAgainWithinMs

const sendEntry = <State, Input extends Tagged, Event extends Tagged>(
  runtime: ActorRuntime<State, Input, Event>,
  key: Key,
  written: WrittenEntry
) => runtime.broker.publish(messagesOf(senderOf(runtime, key), written))

/** The messages that no stream has. */
const unsent = (broker: BrokerShape, messages: ReadonlyArray<Message>, sent: ReadSubjects) =>
  Effect.filter(messages, ({ meta, subject }) => {
    const stream = streamOf(subject)
    if (stream === undefined) return Effect.succeed(true)
    return Effect.map(readSubject(broker, stream, subject, "ce-id", sent), (stored) => !stored.has(meta.id))
  })

/** When the streams do not know the ids any more, what they have is left out. */
const sendEntryAgain = Effect.fnUntraced(function* <State, Input extends Tagged, Event extends Tagged>(
  runtime: ActorRuntime<State, Input, Event>,
  key: Key,
  loaded: LoadedActor<State>,
  written: WrittenEntry,
  ageMs: number
) {
  if (isRecent(ageMs)) return yield* sendEntry(runtime, key, written)
  const messages = messagesOf(senderOf(runtime, key), written)
  yield* runtime.broker.publish(yield* unsent(runtime.broker, messages, loaded.sent))
})

/** Brings an actor into memory. What was decided before a crash is sent here, before anything that is decided after it. */
export const loadActor = Effect.fnUntraced(function* <State, Input extends Tagged, Event extends Tagged>(
  runtime: ActorRuntime<State, Input, Event>,
  key: Key
) {
  const { loaded, newest } = yield* runtime.memory.load(key)
  if (newest === undefined) return loaded
  const ageMs = loaded.usedAt - Date.parse(newest.entry.at)
  if (ageMs < sendAgainWithinMs) yield* sendEntryAgain(runtime, key, loaded, newest, ageMs)
  return loaded
})

/**
 * Sends what the decision at `sequence` led to once more, with the same ids; nothing is decided twice. It may be old: a
 * consumer that was lost delivers everything again.
 */
export const sendAgain = Effect.fnUntraced(function* <State, Input extends Tagged, Event extends Tagged>(
  runtime: ActorRuntime<State, Input, Event>,
  key: Key,
  loaded: LoadedActor<State>,
  sequence: number
) {
  // The decision may be another process's. The view that is stored for it must tell of it.
  if (loaded.sequence < sequence) yield* runtime.memory.catchUp(key, loaded)
  const message = yield* runtime.broker.next("journal", journalSubject(runtime, key), sequence - 1)
  if (message?.sequence !== sequence) return
  const entry = yield* Effect.fromResult(readEntry(yield* bodyOf(message)))
  const ageMs = (yield* Clock.currentTimeMillis) - Date.parse(entry.at)
  if (ageMs < knownForMs) yield* sendEntryAgain(runtime, key, loaded, { entry, sequence: message.sequence }, ageMs)
  runtime.views.changed(key, loaded)
})

const journalMessage = <State, Input extends Tagged, Event extends Tagged>(
  runtime: ActorRuntime<State, Input, Event>,
  key: Key,
  entry: JournalEntry
): Message => ({
  subject: journalSubject(runtime, key),
  body: JSON.stringify(entry),
  meta: {
    id: runtime.nextAttemptId(key),
    type: "JournalEntry",
    source: runtime.source,
    subject: entry.run,
    time: entry.at,
    traceparent: entry.traceparent,
    causation: entry.input.id
  }
})

/**
 * Writes a decision and sends what it leads to. Gives its sequence in the journal. The write fails with a conflict when
 * another process wrote first; from the moment it succeeds, the decision stands, whatever happens to this process.
 */
export const commit = Effect.fnUntraced(function* <State, Input extends Tagged, Event extends Tagged>(
  runtime: ActorRuntime<State, Input, Event>,
  key: Key,
  loaded: LoadedActor<State>,
  { entry, published, state, types }: Decided<State>
) {
  const isFirst = loaded.sequence === 0
  const freshFor = runtime.arrivals.last
  const sequence = yield* runtime.broker.append(journalMessage(runtime, key, entry), loaded.sequence)
  yield* Effect.logDebug(`decided: ${types.join(", ")}`)
  recordEvents(published)
  const written = { entry, sequence }
  for (const one of follow(loaded, state, written)) record(one)
  loaded.freshFor = freshFor
  // Whoever has heard of an actor finds it in the list, even when this process is killed meanwhile.
  if (isFirst) yield* runtime.views.store(key, loaded)
  else runtime.views.changed(key, loaded)
  yield* sendEntry(runtime, key, written)
  return sequence
})
