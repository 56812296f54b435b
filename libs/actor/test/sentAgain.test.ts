/** What was decided is sent again, by whoever has to: at once while the streams drop repeats, later only what they lack. */
import { assert, describe, it } from "@effect/vitest"
import { encodeMeta, subjects } from "@reprise/protocol"
import { Effect, References, Result } from "effect"
import { TestClock } from "effect/testing"
import { Broker, type BrokerShape } from "../src/broker/Broker.ts"
import { loadActor } from "../src/runtime/commit.ts"
import { type CounterInput, counter } from "./support/Counter.ts"
import { counted } from "./support/counted.ts"
import { noteLog } from "./support/noteLog.ts"
import { key, metaOf, running, startedAt, story } from "./support/oneRuntime.ts"

const s = subjects("t")
const add: CounterInput = { _tag: "Add", n: 1 }
const minutes = (count: number) => count * 60_000
const days = (count: number) => minutes(count * 24 * 60)

/** Notes what is published, and which streams are read. */
const noting =
  (log: Array<string>) =>
  (broker: BrokerShape): Partial<BrokerShape> => ({
    publish: (messages) => {
      log.push(...messages.map(({ meta }) => `sent ${meta.id}`))
      return broker.publish(messages)
    },
    read: (stream, subject, after) => {
      log.push(`read ${stream}`)
      return broker.read(stream, subject, after)
    }
  })

/** The clock of a process may be behind that of another: `ms` may be less than 0. */
const laterBy = (ms: number) => TestClock.setTime(startedAt + ms)
const sent = "sent escalation.a.1.0"

describe("a decision that is delivered again to its process", () => {
  it.effect.each([
    ["at once", 0, [sent]],
    ["almost five minutes later", minutes(5) - 1, [sent]],
    ["five minutes later, when its event is in the stream", minutes(5), ["read events"]],
    ["almost six days later", days(6) - 1, ["read events"]],
    ["six days later, when nobody can say what was sent", days(6), []],
    ["by a clock that was set back", -1, ["read events"]]
  ] as const)("sends what it led to: %s", ([, ageMs, expected]) =>
    story(
      Effect.gen(function* () {
        const log: Array<string> = []
        const { handle } = yield* running(noting(log))
        yield* handle(add)
        log.length = 0
        yield* laterBy(ageMs)
        assert.strictEqual(yield* handle(add, { redelivered: true }), 1)
        assert.deepStrictEqual<ReadonlyArray<string>>(log, expected)
      })
    )
  )

  it.effect("sends late what is in no stream", () =>
    story(
      Effect.gen(function* () {
        const log: Array<string> = []
        const { handle } = yield* running(noting(log))
        yield* handle(add)
        yield* Broker.use((broker) => broker.purge("events", s.events()))
        log.length = 0
        yield* laterBy(days(1))
        yield* handle(add, { redelivered: true })
        assert.deepStrictEqual(log, ["read events", sent])
      })
    )
  )

  it.effect("sends nothing when it is in the journal no more, because its actor was pruned", () =>
    story(
      Effect.gen(function* () {
        const log: Array<string> = []
        const { handle } = yield* running(noting(log))
        yield* handle(add)
        const { purge } = yield* Broker
        yield* purge("journal", s.journal("escalation", key))
        log.length = 0
        assert.strictEqual(yield* handle(add, { redelivered: true }), 1)
        assert.deepStrictEqual(log, [])
        const other = yield* running(undefined, undefined, undefined, "another")
        yield* other.handle(add, { meta: metaOf("m2") })
        assert.strictEqual(yield* handle(add, { redelivered: true }), 1)
        assert.deepStrictEqual(log, [])
      })
    )
  )
})

describe("the newest decision of an actor that is loaded", () => {
  it.effect.each([
    ["is sent again while the streams drop repeats", minutes(5) - 1, [sent]],
    ["is left as it is when it is older", minutes(5), []],
    ["is looked up when it is of the future", -1, ["read events"]]
  ] as const)("%s", ([, ageMs, expected]) =>
    story(
      Effect.gen(function* () {
        const first = yield* running()
        yield* first.handle(add)
        yield* laterBy(ageMs)
        const log: Array<string> = []
        const { runtime } = yield* running(noting(log))
        yield* loadActor(runtime, key)
        assert.deepStrictEqual(log, ["read journal", ...expected])
      })
    )
  )
})

describe("a decision", () => {
  it.effect("is a journal entry under an id of its attempt, counted by what it publishes, and told to the log", () => {
    const lines: Array<string> = []
    return story(
      Effect.gen(function* () {
        const steps = () => counted("reprise_steps_total").get("step=EXECUTE")?.[0] ?? 0
        const before = steps()
        const { handle } = yield* running(undefined, {
          decide: (state, input, delivery) =>
            Result.map(counter.decide(state, input, delivery), (events) => [
              ...events,
              { _tag: "Finished", name: delivery.id } as const
            ])
        })
        yield* handle(add)
        yield* handle(add, { meta: metaOf("m2") })
        const { read } = yield* Broker
        const entries = yield* read("journal", s.journal("escalation", key), 0)
        assert.deepStrictEqual(
          entries.map(({ header }) => [header("ce-id"), header("ce-type")]),
          [1, 2].map((n) => {
            const { "ce-type": type } = encodeMeta(metaOf("", { type: "JournalEntry" }))
            return [`escalation.a.writer.${n}`, type]
          })
        )
        assert.strictEqual(steps() - before, 2)
        assert.deepStrictEqual(lines, ["decided: Added, Finished", "decided: Added, Finished"])
      }).pipe(Effect.provide(noteLog(lines)), Effect.provideService(References.MinimumLogLevel, "Debug"))
    )
  })

  it.effect("that another process made is known before what it led to is sent again, and only then read", () =>
    story(
      Effect.gen(function* () {
        const [one, log] = [yield* running(), [] as Array<string>]
        const two = yield* running(noting(log), undefined, undefined, "another")
        const other = { meta: metaOf("m2") }
        yield* one.handle(add)
        yield* two.handle(add, other)
        log.length = 0
        yield* two.handle(add, { ...other, redelivered: true })
        assert.deepStrictEqual(log, ["sent escalation.a.2.0"])
        yield* one.handle(add, { meta: metaOf("m3") })
        const known = two.runtime.memory.peek(key)
        known?.receipts.add("m3", 3)
        yield* two.handle(add, { meta: metaOf("m3"), redelivered: true })
        assert.strictEqual(known?.state.total, 3)
      })
    )
  )
})

describe("an input that this process does not know", () => {
  it.effect.each([
    ["among the refusals alone while every decision has its receipt", 512, ["read events"]],
    ["in the journal, too, when receipts were forgotten", 1, ["read events", "read journal"]]
  ] as const)("is looked up %s", ([, receiptsKept, expected]) =>
    story(
      Effect.gen(function* () {
        const log: Array<string> = []
        const { handle } = yield* running(noting(log), undefined, { receiptsKept })
        yield* handle(add)
        log.length = 0
        yield* handle({ _tag: "Finish", name: "x" }, { meta: metaOf("m2"), redelivered: true })
        assert.deepStrictEqual<ReadonlyArray<string>>(
          log.filter((line) => line.startsWith("read")),
          expected
        )
      })
    )
  )
})
