/** What a service, its worker and whoever uses them do with the broker, in parts that together make every kind of request. */
import { assert } from "@effect/vitest"
import { anyHost, subjects } from "@reprise/protocol"
import { Effect, Layer, Schedule, Stream } from "effect"
import { Broker, Messenger, WorkFault, workerLayer } from "../../src/index.ts"
import { CounterWork, counterLayer, toCounter } from "../support/Counter.ts"
import { deadLettersOf, decisionsOf, journalOf, send } from "../support/observe.ts"
import { waitUntil } from "../support/systems.ts"

const s = subjects("t")
/** Larger than a message may be, so that it is an object of its own. */
const large = "x".repeat(530_000)

const worker = workerLayer({
  service: "gate",
  host: anyHost,
  work: CounterWork,
  handle: ({ name }, { id, key }) =>
    Messenger.use((messenger) => messenger.send(toCounter(key).Finish({ name }), { id: `${id}.done` })).pipe(
      Effect.asVoid,
      Effect.mapError((cause) => new WorkFault({ operation: "report", cause }))
    )
})

/** A counter whose view and answers are as large as its text, with a worker. */
export const service = Layer.merge(
  counterLayer({ view: ({ steps, text, total }) => ({ total, steps, text, status: "much" }) }),
  worker
)

/** Whoever uses the broker may be told that it failed, and tries again. */
const patiently = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.retry(effect, Schedule.spaced("50 millis"))

/** Waits until the counter has decided as many inputs, and asserts that each was decided once. */
const decides = Effect.fnUntraced(function* (key: string, count: number) {
  yield* waitUntil(Effect.map(patiently(decisionsOf(key)), (decisions) => decisions >= count))
  const decided = (yield* patiently(journalOf(key))).map(({ input }) => input.id)
  assert.strictEqual(new Set(decided).size, count, decided.join())
  assert.lengthOf(decided, count)
})

const firstRefusal = (id: string) =>
  Messenger.use((messenger) =>
    messenger.events({ types: ["CommandRefused"], from: "beginning" }).pipe(
      Stream.filter(({ meta }) => meta.causation === id),
      Stream.runHead
    )
  )

const commands = Effect.fnUntraced(function* (key: string) {
  const dueAt = new Date().toISOString()
  yield* patiently(send(toCounter(key).Add({ n: 1 }), `${key}-add`))
  yield* patiently(send(toCounter(key).AskForWork({ name: "x" }), `${key}-work`))
  yield* patiently(send(toCounter(key).AddLater({ n: 2, dueAt }), `${key}-later`))
  yield* patiently(send(toCounter(key).Forbidden(), `${key}-forbidden`))
  yield* patiently(firstRefusal(`${key}-forbidden`))
  yield* decides(key, 5)
})

const largeBodies = Effect.fnUntraced(function* (key: string) {
  const { query } = yield* Messenger
  yield* patiently(send(toCounter(key).Keep({ text: large }), `${key}-keep`))
  yield* decides(key, 1)
  assert.include(JSON.stringify(yield* patiently(query("gate", "show", { id: key }))), large)
  yield* patiently(send(toCounter(key).Keep({ text: "" }), `${key}-forget`))
  yield* decides(key, 2)
})

const queries = Effect.fnUntraced(function* (key: string) {
  const { query } = yield* Messenger
  yield* patiently(send(toCounter(key).Add({ n: 1 }), `${key}-add`))
  yield* decides(key, 1)
  assert.deepInclude(yield* patiently(query("gate", "show", { id: key })), { total: 1 })
  yield* patiently(query("gate", "list", {}))
})

const transcripts = Effect.fnUntraced(function* (key: string) {
  const { get, list, put, remove } = (yield* Broker).transcripts
  const name = `session/${key}/1`
  yield* patiently(put(name, key))
  assert.strictEqual(yield* patiently(get(name)), key)
  assert.deepStrictEqual(yield* patiently(list(`session/${key}/`)), [name])
  yield* patiently(remove(name))
  assert.isUndefined(yield* patiently(get(name)))
})

/** Removes what is stored of an actor. */
export const forget = Effect.fnUntraced(function* (key: string) {
  const { purge, snapshots, views } = yield* Broker
  yield* patiently(purge("journal", s.journal("escalation", key)))
  yield* patiently(snapshots.remove(`escalation.${key}`))
  yield* patiently(views.remove(`gate.${key}`))
})

const prune = Effect.fnUntraced(function* (key: string) {
  const { views } = yield* Broker
  const { deadLetters, dropDeadLetter } = yield* Messenger
  yield* patiently(send(toCounter(key).Keep({ text: large }), `${key}-keep`))
  yield* patiently(send(toCounter(key).Explode(), `${key}-explode`))
  yield* decides(key, 1)
  yield* waitUntil(Effect.map(patiently(deadLettersOf(key)), ({ length }) => length === 1))
  for (const { sequence } of yield* patiently(deadLetters())) yield* patiently(dropDeadLetter(sequence))
  // A write of the view whose answer did not come is repeated, and can come after the removal.
  const isGone = Effect.map(patiently(views.get(`gate.${key}`)), (view) => view === undefined)
  yield* waitUntil(Effect.andThen(forget(key), isGone))
  assert.deepStrictEqual(yield* patiently(journalOf(key)), [])
})

/** Each is told with a key of its own, in a process that goes on to live. */
export const parts = { commands, largeBodies, queries, transcripts, prune }

/** A process starts, opens its stores, and goes on with an actor that has a snapshot. */
export const firstUse = Effect.fnUntraced(function* (key: string) {
  const { query } = yield* Messenger
  const { transcripts } = yield* Broker
  yield* patiently(send(toCounter(key).Add({ n: 4 }), `${key}-more`))
  yield* decides(key, 4)
  assert.deepInclude(yield* patiently(query("gate", "show", { id: key })), { total: 4 })
  assert.isUndefined(yield* patiently(transcripts.get(`session/${key}/1`)))
})

/** What `firstUse` finds: an actor with a large snapshot. */
export const before = Effect.fnUntraced(function* (key: string) {
  for (const n of [1, 2, 3]) yield* patiently(send(toCounter(key).Keep({ text: large + n }), `${key}-${n}`))
  yield* decides(key, 3)
})
