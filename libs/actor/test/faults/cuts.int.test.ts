// @module-tag long
/** The connection is cut at each request in turn: what changes nothing the second time continues by itself. */
import { assert, it } from "@effect/vitest"
import { subjects } from "@reprise/protocol"
import { makeNatsProxy, type Passing } from "@reprise/testing"
import { Context, Effect, Layer } from "effect"
import { Broker } from "../../src/index.ts"
import { message } from "../support/deliveries.ts"
import { jetStream } from "../support/jetStream.ts"
import { onServer, ownServerWorld, processOn } from "../support/systems.ts"

const s = subjects("t")
const large = "x".repeat(600_000)
const journal = s.journal("escalation", "a")

/** What `prune` and `repair` find of an actor. */
const store = Effect.fnUntraced(function* ({ append, snapshots, transcripts, views }: Broker["Service"], id: string) {
  let last = 0
  // More than are read one by one.
  for (const n of [1, 2, 3, 4, 5, 6]) {
    last = yield* append(message(journal, `${id}-${n}`, JSON.stringify(n === 1 ? large : n)), last)
  }
  yield* snapshots.put("escalation.a", large)
  yield* views.put("gate.a", large)
  yield* transcripts.put("session/a/1", large)
})

/** What they do, with nobody who tries again. */
const readAndRemove = Effect.fnUntraced(function* ({ purge, read, snapshots, transcripts, views }: Broker["Service"]) {
  assert.lengthOf(yield* read("journal", journal, 0), 6)
  assert.lengthOf(yield* views.list("gate"), 1)
  assert.deepStrictEqual(yield* transcripts.list("session/a/"), ["session/a/1"])
  assert.strictEqual(yield* transcripts.get("session/a/1"), large)
  yield* transcripts.put("session/a/2", large)
  yield* transcripts.remove("session/a/2")
  yield* transcripts.remove("session/a/1")
  yield* purge("journal", journal)
  yield* snapshots.remove("escalation.a")
  yield* views.remove("gate.a")
})

const isEmpty = Effect.fnUntraced(function* ({ read, snapshots, transcripts, views }: Broker["Service"]) {
  assert.deepStrictEqual(yield* read("journal", journal, 0), [])
  assert.deepStrictEqual(yield* views.list("gate"), [])
  assert.deepStrictEqual(yield* transcripts.list(""), [])
  assert.isUndefined(yield* snapshots.get("escalation.a"))
})

const kindOf = ({ kind, operation }: Passing) => `${kind} ${operation}`

onServer("a cut at any one request", () => {
  it.live("is not noticed by those who read, list and remove", () =>
    Effect.gen(function* () {
      const world = yield* ownServerWorld()
      const proxy = yield* makeNatsProxy(world.server.url)
      const direct = Context.get(yield* Layer.build(jetStream(world.server.url)), Broker)
      const tell = (id: string) =>
        Effect.gen(function* () {
          yield* store(direct, id)
          const process = yield* processOn(jetStream(proxy.url, {}, { name: "one" }), [])
          yield* readAndRemove(Context.get(process, Broker))
          proxy.heal()
          yield* isEmpty(direct)
        }).pipe(Effect.scoped)

      /** How often each kind of message passes. */
      const counts = new Map<string, number>()
      proxy.use((passing) => {
        if (passing.kind !== "tell") counts.set(kindOf(passing), passing.nth + 1)
        return undefined
      })
      yield* tell("calm")
      const cuts = [...counts].flatMap(([kind, count]) => [...new Set([0, count - 1])].map((nth) => ({ kind, nth })))
      for (const [n, { kind, nth }] of cuts.entries()) {
        proxy.use((passing) => (passing.nth === nth && kindOf(passing) === kind ? { do: "cut" } : undefined))
        yield* tell(`cut-${n}`).pipe(Effect.mapError((error) => new Error(`cut at ${kind} #${nth}: ${error}`)))
      }
    }).pipe(Effect.scoped)
  )
})
