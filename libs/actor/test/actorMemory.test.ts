/** How an actor gets into memory and out of it, also where its journal or its snapshot cannot be used. */
import { assert, describe, it } from "@effect/vitest"
import { subjects } from "@reprise/protocol"
import { Effect } from "effect"
import { Broker } from "../src/broker/Broker.ts"
import { BrokerFault } from "../src/broker/faults.ts"
import { PoisonMessage } from "../src/DeadLetter.ts"
import type { CounterInput } from "./support/Counter.ts"
import { noteLog } from "./support/noteLog.ts"
import { key, metaOf, running, startedAt, story } from "./support/oneRuntime.ts"

const journal = subjects("t").journal("escalation", key)
const add: CounterInput = { _tag: "Add", n: 1 }

describe("an actor that is loaded", () => {
  const entry = {
    ...{ input: { id: "m1", type: "Add" }, at: new Date(startedAt).toISOString(), run: "r1" },
    ...{ traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01`, events: [], outgoing: [] }
  }
  it.effect.each([
    ["is not an entry", "{}"],
    ["has events that the actor does not know", JSON.stringify({ ...entry, events: [{ _tag: "Unheard" }] })]
  ])("is refused when its journal %s, and the place is named", ([, body]) =>
    story(
      Effect.gen(function* () {
        yield* Broker.use(({ append }) => append({ subject: journal, body: body ?? "", meta: metaOf("j1") }, 0))
        const { runtime } = yield* running()
        const failed = yield* Effect.flip(runtime.memory.load(key))
        assert.instanceOf(failed, PoisonMessage)
        assert.match(failed.message, /^The journal of t\.journal\.escalation\.a cannot be read at 1: ./)
        assert.isUndefined(runtime.memory.peek(key))
      })
    )
  )

  it.effect("is refused when its code throws at an entry, and the place is named", () =>
    story(
      Effect.gen(function* () {
        yield* (yield* running()).handle(add)
        const evolve = () => {
          throw new Error("oh")
        }
        const { runtime } = yield* running(undefined, { evolve })
        const failed = yield* Effect.flip(runtime.memory.load(key))
        assert.instanceOf(failed, PoisonMessage)
        assert.match(failed.message, /^gate, evolve at t\.journal\.escalation\.a 1 threw: Error: oh/)
      })
    )
  )
})

describe("a snapshot", () => {
  it.effect("that cannot be written fails nothing, and the log says why", () => {
    const lines: Array<string> = []
    return story(
      Effect.gen(function* () {
        const fault = new BrokerFault({ operation: "write", cause: "no answer" })
        const how = ({ snapshots }: Broker["Service"]) => ({ snapshots: { ...snapshots, put: () => fault } })
        const { handle, runtime } = yield* running(how, undefined, { snapshotEvery: 1 })
        yield* handle(add)
        yield* runtime.memory.snapshotIfDue(key)
        assert.deepStrictEqual(lines, ["no snapshot was written: The broker failed (write): no answer"])
      }).pipe(Effect.provide(noteLog(lines)))
    )
  })

  it.effect(
    "holds the state, the receipts, the trace and the step, so that another process knows what was handled",
    () =>
      story(
        Effect.gen(function* () {
          const { handle, runtime } = yield* running(undefined, undefined, { snapshotEvery: 1 })
          yield* handle(add)
          yield* runtime.memory.snapshotIfDue(key)
          const other = yield* running(() => ({ read: () => Effect.succeed([]) }))
          const { loaded } = yield* other.runtime.memory.load(key)
          assert.deepStrictEqual([loaded.sequence, loaded.state.total, loaded.receipts.all()], [1, 1, [["m1", 1]]])
          assert.deepStrictEqual(loaded.step, { name: "EXECUTE", since: new Date(startedAt).toISOString() })
          assert.isDefined(loaded.traceparent)
          assert.strictEqual(loaded.traceparent, runtime.memory.peek(key)?.traceparent)
        })
      )
  )
})

describe("an actor in memory", () => {
  it.effect("leaves it when it is forgotten, or was not used for long enough", () =>
    story(
      Effect.gen(function* () {
        const { handle, runtime } = yield* running()
        const { forget, forgetIdle, peek } = runtime.memory
        yield* handle(add)
        forgetIdle(startedAt)
        assert.isDefined(peek(key), "it was used at that time")
        forgetIdle(startedAt + 1)
        assert.isUndefined(peek(key))
        yield* handle(add, { meta: metaOf("m2") })
        forget(key)
        assert.isUndefined(peek(key))
      })
    )
  )
})
