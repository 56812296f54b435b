/** The runtime's bookkeeping around an input: receipts, memory, snapshots, views and answers. */
import { assert, describe, it } from "@effect/vitest"
import { anyHost, PublicEvent, ReviewKey, RunId, SessionId, subjects, to } from "@reprise/protocol"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { actorLayer, Broker, drain, Messenger } from "../src/index.ts"
import { makeMemoryBucket } from "../src/memory/MemoryStores.ts"
import { makeViewMark, putView, readView } from "../src/runtime/views.ts"
import { counter, counterLayer, toCounter } from "./support/Counter.ts"
import { makeStop, misbehaving } from "./support/misbehave.ts"
import { journalOf, sendAll } from "./support/observe.ts"
import { memoryWorld } from "./support/systems.ts"

const s = subjects("t")
const count = actorLayer(counter)
const runId = RunId.make("r1")

describe("an actor in memory", () => {
  it.effect("stays there while it is used, and is loaded once", () =>
    Effect.gen(function* () {
      const world = yield* memoryWorld({ idleAfterMs: 60_000, heartbeatMs: 30_000 })
      let loads = 0
      const one = yield* world.start(
        misbehaving(count, (broker) => ({
          snapshots: {
            ...broker.snapshots,
            get: (key) =>
              Effect.andThen(
                Effect.sync(() => (loads += 1)),
                broker.snapshots.get(key)
              )
          }
        }))
      )
      yield* Effect.gen(function* () {
        for (let n = 1; n <= 6; n++) {
          yield* sendAll("a", [n])
          yield* drain
          yield* TestClock.adjust("40 seconds")
        }
        assert.strictEqual(loads, 1)
      }).pipe(Effect.provide(one))
    })
  )

  it.effect("writes a snapshot also when most of the events came from its journal", () =>
    Effect.gen(function* () {
      const world = yield* memoryWorld({ snapshotEvery: 4 })
      for (const numbers of [[1, 2, 3], [4]]) {
        yield* Effect.gen(function* () {
          const one = yield* world.start(count)
          yield* sendAll("a", numbers).pipe(Effect.andThen(drain), Effect.provide(one))
        }).pipe(Effect.scoped)
      }
      const watching = yield* world.start()
      const stored = yield* Broker.use(({ snapshots }) => snapshots.get("escalation.a")).pipe(Effect.provide(watching))
      assert.include(stored?.value, `"total":10`)
    })
  )

  it.effect("does not send again what it decided long ago", () =>
    Effect.gen(function* () {
      const world = yield* memoryWorld({ heartbeatMs: 30_000 })
      const sent: Array<string> = []
      const watched = misbehaving(count, (broker) => ({
        publish: (messages) => {
          sent.push(...messages.map(({ meta }) => meta.causation ?? ""))
          return broker.publish(messages)
        }
      }))
      for (const n of [1, 2]) {
        yield* Effect.gen(function* () {
          const one = yield* world.start(watched)
          yield* sendAll("a", [n]).pipe(Effect.andThen(drain), Effect.provide(one))
        }).pipe(Effect.scoped)
        yield* TestClock.adjust("6 minutes")
      }
      assert.deepStrictEqual(sent, ["a-1", "a-2"])
    })
  )

  it.effect("writes its view again when a process died before it did", () =>
    Effect.gen(function* () {
      const world = yield* memoryWorld()
      const watching = yield* world.start()
      yield* Effect.gen(function* () {
        const stop = yield* makeStop
        const dying = misbehaving(count, ({ views }) => ({ views: { ...views, put: () => stop.here } }))
        yield* world.start(dying)
        yield* sendAll("a", [5]).pipe(Effect.provide(watching))
        yield* stop.reached
      }).pipe(Effect.scoped)
      const two = yield* world.start(count)
      yield* drain.pipe(Effect.provide(two))
      const listed = yield* Messenger.use((messenger) => messenger.query("gate", "list", {})).pipe(Effect.provide(two))
      assert.deepStrictEqual(listed, [{ total: 5, steps: 1, status: "little" }])
    })
  )

  it.effect("publishes under the run that it belongs to, and refuses under it too", () =>
    Effect.gen(function* () {
      const world = yield* memoryWorld()
      const causations: Array<string | undefined> = []
      const ofRun = counterLayer({
        runOf: () => "its-run",
        decide: (state, input, delivery) => {
          causations.push(delivery.causation)
          return counter.decide(state, input, delivery)
        }
      })
      const one = yield* world.start(ofRun)
      yield* Effect.gen(function* () {
        const messenger = yield* Messenger
        yield* messenger.send(toCounter("a").Add({ n: 1 }), { subject: "another", causation: "why" })
        yield* messenger.send({ ...toCounter("a").Forbidden(), command: { _tag: "Forbidden", ...{ runId: "named" } } })
        yield* drain
        const broker = yield* Broker
        assert.isDefined(yield* broker.last("events", s.event("gate", "its-run", "StepStarted")))
        assert.isDefined(yield* broker.last("events", s.event("gate", "its-run", "CommandRefused")))
        assert.deepStrictEqual(
          (yield* journalOf("a")).map(({ run }) => run),
          ["its-run"]
        )
        assert.deepStrictEqual(causations, ["why", undefined])
      }).pipe(Effect.provide(one))
    })
  )

  it.effect("decides no event to which it did not subscribe, though an old server delivers them all", () =>
    Effect.gen(function* () {
      const world = yield* memoryWorld()
      const one = yield* world.start(
        misbehaving(count, (broker) => ({
          consume: (spec, take) =>
            broker.consume(spec.stream === "events" ? { ...spec, filters: [s.events()] } : spec, take)
        }))
      )
      yield* Effect.gen(function* () {
        const messenger = yield* Messenger
        yield* messenger.publish("orchestrator", PublicEvent.cases.RunAborted.make({ runId, reason: "test" }))
        yield* messenger.publish("orchestrator", PublicEvent.cases.RunPaused.make({ runId }))
        yield* drain
        assert.deepStrictEqual(
          (yield* journalOf("r1")).map(({ input }) => input.type),
          ["RunPaused"]
        )
      }).pipe(Effect.provide(one))
    })
  )
})

describe("a view", () => {
  const stored = (bucket: ReturnType<typeof makeMemoryBucket>) =>
    Effect.map(bucket.get("a"), (found) => readView(found?.value ?? "")?.view)

  it.effect("of a later decision is not replaced by an earlier one, which another process writes late", () =>
    Effect.gen(function* () {
      const bucket = makeMemoryBucket()
      yield* putView(bucket, "a", makeViewMark(), 7, "later")
      yield* putView(bucket, "a", makeViewMark(), 6, "earlier")
      assert.strictEqual(yield* stored(bucket), "later")
    })
  )

  it.effect("of a later decision stays also when a process that saw it writes what it knew before once more", () =>
    Effect.gen(function* () {
      const bucket = makeMemoryBucket()
      const [mine, others] = [makeViewMark(), makeViewMark()]
      yield* putView(bucket, "a", others, 2, "later")
      yield* putView(bucket, "a", mine, 1, "earlier")
      yield* putView(bucket, "a", mine, 1, "earlier")
      assert.strictEqual(yield* stored(bucket), "later")
    })
  )

  it.effect("of the same decision replaces what another release made of it, and what nobody can read", () =>
    Effect.gen(function* () {
      const bucket = makeMemoryBucket()
      yield* putView(bucket, "a", makeViewMark(), 1, "of another release")
      yield* putView(bucket, "a", makeViewMark(), 1, "of this one")
      assert.strictEqual(yield* stored(bucket), "of this one")
      yield* bucket.put("a", "unreadable")
      yield* putView(bucket, "a", makeViewMark(), 1, "again")
      assert.strictEqual(yield* stored(bucket), "again")
    })
  )

  it.effect("is replaced without a look by the process that stored it last", () =>
    Effect.gen(function* () {
      const bucket = makeMemoryBucket()
      let looks = 0
      const watched = {
        ...bucket,
        get: (key: string) => {
          looks += 1
          return bucket.get(key)
        }
      }
      const mark = makeViewMark()
      for (const sequence of [1, 2, 3]) yield* putView(watched, "a", mark, sequence, sequence)
      assert.strictEqual(looks, 1)
      assert.strictEqual(yield* stored(bucket), 3)
    })
  )

  it.effect("is written although another process replaced the one that was seen last", () =>
    Effect.gen(function* () {
      const bucket = makeMemoryBucket()
      const [mine, others] = [makeViewMark(), makeViewMark()]
      yield* putView(bucket, "a", mine, 1, "first")
      yield* putView(bucket, "a", others, 2, "second")
      yield* putView(bucket, "a", mine, 3, "third")
      assert.strictEqual(yield* stored(bucket), "third")
      yield* putView(bucket, "a", others, 1, "late")
      assert.strictEqual(yield* stored(bucket), "third")
    })
  )
})

describe("the outcome of a command that was asked", () => {
  it.effect("comes from the actor that was asked, not from another one of the same run", () =>
    Effect.gen(function* () {
      const world = yield* memoryWorld()
      const one = yield* world.start()
      yield* Effect.gen(function* () {
        const messenger = yield* Messenger
        const verdict = (phase: string, cycle: number) =>
          PublicEvent.cases.VerdictReached.make({
            ...{ runId, phase, cycle, commit: "c" },
            verdict: { readiness: "ready", items: [] }
          })
        yield* messenger.publish("reviewer", verdict("1", 1))
        yield* messenger.publish("reviewer", verdict("2", 2))
        const request = { runId, phase: "2", commit: "c", base: "b", reviewPath: "r", planPath: "p", cycle: 2 } as const
        const defaults = { directory: "", host: anyHost, runtime: "opencode", permissions: "ask" } as const
        const asked = to.reviewer(ReviewKey.make("r1-p2")).RequestReview({
          ...request,
          ...defaults,
          limits: {},
          words: [],
          decisions: [],
          findings: [],
          remarks: [],
          prompts: {}
        })
        assert.deepInclude(yield* messenger.ask(asked), { phase: "2", cycle: 2 })
      }).pipe(Effect.provide(one))
    })
  )

  it.effect("never comes for a command that no event answers", () =>
    Effect.gen(function* () {
      const world = yield* memoryWorld()
      const one = yield* world.start()
      const command = to.sessionManager(SessionId.make("s1")).ReplyToPrompt({ promptId: "p", reply: "once" })
      // @ts-expect-error: ReplyToPrompt has no outcome, so it cannot be asked
      const asked = Messenger.use((messenger) => messenger.ask(command, { timeout: "50 millis" }))
      const none = yield* Effect.flip(asked).pipe(Effect.provide(one))
      assert.deepInclude(none, { _tag: "NoAnswer", command: "ReplyToPrompt" })
    })
  )
})
