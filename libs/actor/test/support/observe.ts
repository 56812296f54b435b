/** What a test can see of a system from outside. */
import { type Addressed, contracts, type Key, type PublicEventType, RunId, subjects } from "@reprise/protocol"
import { Effect, Fiber, Schema, Stream } from "effect"
import { Broker, DeadLetter, type EventsOptions, Messenger, type SeenEvent } from "../../src/index.ts"
import { readEntry } from "../../src/JournalEntry.ts"
import { type CounterState, toCounter } from "./Counter.ts"
import { waitUntil } from "./systems.ts"

const s = subjects("t")

const stored = (key: Key) => Broker.use((broker) => broker.read("journal", s.journal(contracts.gate.actor, key), 0))

/** How many decisions the journal of a counter has. Their bodies, which may be large, are not fetched. */
export const decisionsOf = (key: Key) => Effect.map(stored(key), ({ length }) => length)

/** The journal of a counter: each decision with the id of what it decided. */
export const journalOf = Effect.fnUntraced(function* (key: Key) {
  return yield* Effect.forEach(yield* stored(key), ({ body, sequence }) =>
    Effect.flatMap(body, (text) => Effect.map(Effect.fromResult(readEntry(text)), (entry) => ({ ...entry, sequence })))
  )
})

/** Every event of the stream so far. */
export const eventsSoFar = Effect.fnUntraced(function* (types: ReadonlyArray<PublicEventType>) {
  const messenger = yield* Messenger
  const id = crypto.randomUUID()
  const seen = yield* Effect.forkChild(
    messenger.events({ types: [...types, "RunAborted"], from: "beginning" }).pipe(
      Stream.takeUntil(({ meta }) => meta.id === id),
      Stream.runCollect
    )
  )
  yield* messenger.publish("orchestrator", { _tag: "RunAborted", runId: endOfTest, reason: "the test looks" }, { id })
  return (yield* Fiber.join(seen)).filter(({ event }) => event._tag !== "RunAborted")
})
const endOfTest = RunId.make("end-of-test")

/** Follows from now on; returns once following has begun, with what keeps filling. Probes among it are RunCompleted. */
export const followNow = Effect.fnUntraced(function* (
  options: Omit<EventsOptions, "from"> & { readonly runId: string }
) {
  const messenger = yield* Messenger
  const seen: Array<SeenEvent> = []
  yield* messenger.events({ ...options, from: "now" }).pipe(
    Stream.runForEach((event) => Effect.sync(() => seen.push(event))),
    Effect.forkScoped
  )
  const probe = messenger.publish("orchestrator", { _tag: "RunCompleted", runId: RunId.make(options.runId) })
  yield* waitUntil(Effect.map(probe, () => seen.length > 0))
  return seen
})

const readDeadLetter = Schema.decodeUnknownEffect(Schema.fromJsonString(DeadLetter))

export const deadLettersOf = Effect.fnUntraced(function* (key: Key) {
  const broker = yield* Broker
  const stored = yield* broker.read("dead", s.dead("gate", key), 0)
  return yield* Effect.forEach(stored, ({ body }) => Effect.flatMap(body, readDeadLetter))
})

const View = Schema.Struct({ total: Schema.Int, steps: Schema.Int, status: Schema.String })
const readView = Schema.decodeUnknownEffect(View)

/** The counter as `show` gives it. */
export const show = Effect.fnUntraced(function* (key: Key) {
  const messenger = yield* Messenger
  const view: Pick<CounterState, "total" | "steps"> = yield* readView(
    yield* messenger.query("gate", "show", { id: key })
  )
  return { total: view.total, steps: view.steps }
})

/** Sends a command under an id of the test's choice. */
export const send = (command: Addressed, id?: string) =>
  Messenger.use((messenger) => messenger.send(command, id === undefined ? {} : { id }))

export const sendAll = (key: Key, numbers: ReadonlyArray<number>) =>
  Effect.forEach(numbers, (n) => send(toCounter(key).Add({ n }), `${key}-${n}`), { discard: true })
