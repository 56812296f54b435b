/** One input of one actor, from its delivery to what is stored and told of it. */
import { assert, describe, it } from "@effect/vitest"
import { type MessageMeta, subjects } from "@reprise/protocol"
import { Effect, Exit, Logger, References, Tracer } from "effect"
import { Broker, type BrokerShape } from "../src/broker/Broker.ts"
import { BrokerFault } from "../src/broker/faults.ts"
import { currentView, refuseUnreadable } from "../src/runtime/handleInput.ts"
import { traceparentOf } from "../src/runtime/telemetry.ts"
import { type CounterInput, counter } from "./support/Counter.ts"
import { counted } from "./support/counted.ts"
import { noteLog } from "./support/noteLog.ts"
import { key, metaOf, running, startedAt, story } from "./support/oneRuntime.ts"

const s = subjects("t")
const meta = metaOf("m1")
const add: CounterInput = { _tag: "Add", n: 1 }
const forbidden: CounterInput = { _tag: "Forbidden" }
const ignored: CounterInput = { _tag: "Ignored" }

const refusals = Broker.use((broker) => broker.read("events", s.events("gate", "*", "CommandRefused"), 0))

describe("an input", () => {
  it.effect("is decided with its time and its causation, where it has one", () =>
    story(
      Effect.gen(function* () {
        const deliveries: Array<object> = []
        const { handle } = yield* running(undefined, {
          decide: (state, input, delivery) => {
            deliveries.push(delivery)
            return counter.decide(state, input, delivery)
          }
        })
        yield* handle(add)
        yield* handle(add, { meta: { ...meta, id: "m2", causation: "why" } })
        const now = new Date(startedAt).toISOString()
        assert.deepStrictEqual(deliveries, [
          { id: "m1", key, now },
          { id: "m2", key, now, causation: "why" }
        ])
      })
    )
  )

  it.effect("that is refused is told to its sender, and the log says why", () => {
    const lines: Array<string> = []
    return story(
      Effect.gen(function* () {
        const { handle } = yield* running()
        assert.strictEqual(yield* handle(forbidden), "answered")
        assert.lengthOf(yield* refusals, 1)
        assert.deepStrictEqual(lines, ["refused: It is forbidden."])
      }).pipe(Effect.provide(noteLog(lines)))
    )
  })

  it.effect("is logged with the trace in which it is handled, whether it is decided, refused or unreadable", () => {
    const traces: Array<string | undefined> = []
    const logger = Logger.make<unknown, void>(({ fiber }) => void traces.push(fiber.cache.span?.traceId))
    return story(
      Effect.gen(function* () {
        const { handle, runtime } = yield* running()
        const traced = { ...meta, traceparent: `00-${"a".repeat(32)}-${"1".repeat(16)}-01` }
        yield* handle(add, { meta: traced })
        yield* handle(forbidden, { meta: { ...traced, id: "m2" } })
        yield* yield* refuseUnreadable(runtime, key, { ...traced, id: "m3" }, "It cannot be read.")
        assert.deepStrictEqual(
          traces,
          ["a", "a", "a"].map((trace) => trace.repeat(32))
        )
      }).pipe(Effect.provide(Logger.layer([logger])), Effect.provideService(References.MinimumLogLevel, "Debug"))
    )
  })

  it.effect("that leads to nothing is handled, and nobody hears of it", () =>
    story(
      Effect.gen(function* () {
        const { handle } = yield* running()
        assert.strictEqual(yield* handle(ignored), 0)
        assert.deepStrictEqual(yield* refusals, [])
      })
    )
  )

  it.effect("is a span of its sender's trace, named after the service and the input", () =>
    story(
      Effect.gen(function* () {
        const spans: Array<readonly [string, string, string | undefined]> = []
        const tracer = Tracer.make({
          span: (options) => {
            const span = new Tracer.NativeSpan(options)
            spans.push([options.name, options.kind, span.parent._tag === "Some" ? span.parent.value.spanId : undefined])
            return span
          }
        })
        const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`
        const { handle, runtime } = yield* running()
        yield* handle(add, { meta: { ...meta, traceparent } }).pipe(Effect.withTracer(tracer))
        const unread = { ...meta, id: "m2", type: "Unheard", traceparent }
        yield* Effect.flatten(refuseUnreadable(runtime, key, unread, "why")).pipe(Effect.withTracer(tracer))
        assert.deepStrictEqual(spans, [
          ["gate Add", "consumer", "b".repeat(16)],
          ["gate Unheard", "consumer", "b".repeat(16)]
        ])
        const [refused] = yield* refusals
        assert.strictEqual(refused?.header("ce-time"), new Date(startedAt).toISOString())
        assert.match(refused?.header("traceparent") ?? "", new RegExp(`^00-${"a".repeat(32)}-[0-9a-f]{16}-01$`))
      })
    )
  )

  it.effect(
    "from outside is a span of the actor's trace, linked to its sender's, and what it leads to goes on there",
    () =>
      story(
        Effect.gen(function* () {
          const spans: Array<Tracer.NativeSpan> = []
          const tracer = Tracer.make({
            span: (options) => {
              const span = new Tracer.NativeSpan(options)
              spans.push(span)
              return span
            }
          })
          const from = (id: string, trace: string) =>
            metaOf(id, { traceparent: `00-${trace.repeat(32)}-${id[1]?.repeat(16)}-01` })
          const { handle } = yield* running()
          yield* handle(add, { meta: from("m1", "a") }).pipe(Effect.withTracer(tracer))
          // Another process knows it from the journal.
          const { handle: handleElsewhere } = yield* running(undefined, undefined, undefined, "other")
          yield* handleElsewhere(add, { meta: from("m2", "b") }).pipe(Effect.withTracer(tracer))
          yield* handleElsewhere(add, { meta: metaOf("m3") }).pipe(Effect.withTracer(tracer))
          yield* handleElsewhere(forbidden, { meta: from("m4", "c") }).pipe(Effect.withTracer(tracer))
          assert.deepStrictEqual(new Set(spans.map(({ traceId }) => traceId)), new Set(["a".repeat(32)]))
          assert.deepStrictEqual(
            spans.map(({ links }) => links.map(({ span }) => span.traceId[0])),
            [[], ["b"], [], ["c"]]
          )
          const sent = yield* Broker.use(({ read }) => read("events", s.events("gate", "*", "*"), 0))
          assert.deepStrictEqual(
            sent.map(({ header }) => header("traceparent")),
            spans.map((span) => traceparentOf(span))
          )
        })
      )
  )

  it.effect("from outside that loses its race against the first of the actor is decided in the winner's trace", () =>
    story(
      Effect.gen(function* () {
        const from = (id: string, trace: string) =>
          metaOf(id, { traceparent: `00-${trace.repeat(32)}-${"1".repeat(16)}-01` })
        const late = yield* running()
        yield* late.handle(ignored, { meta: metaOf("m0") })
        const first = yield* running(undefined, undefined, undefined, "other")
        yield* first.handle(add, { meta: from("m1", "a") })
        yield* late.handle(add, { meta: from("m2", "b") })
        const journal = yield* Broker.use(({ read }) => read("journal", s.journal("escalation", key), 0))
        assert.deepStrictEqual(
          journal.map(({ header }) => header("traceparent").slice(3, 35)),
          ["a".repeat(32), "a".repeat(32)]
        )
      })
    )
  )

  it.effect("is counted by what became of it, and how long that took", () =>
    story(
      Effect.gen(function* () {
        const { handle } = yield* running()
        const outcomes = () => {
          const all = counted("reprise_inputs_total")
          return ["decided", "nothing", "refused"].map(
            (outcome) => all.get(`service=gate,outcome=${outcome}`)?.[0] ?? 0
          )
        }
        const seconds = () => counted("reprise_input_seconds").get("service=gate") ?? [0, 0]
        const [before, secondsBefore, sinceMs] = [outcomes(), seconds(), performance.now()]
        yield* handle(add)
        yield* handle(add, { meta: { ...meta, id: "m2" } })
        yield* handle(ignored, { meta: { ...meta, id: "m3" } })
        yield* handle(forbidden, { meta: { ...meta, id: "m4" } })
        const tookSeconds = (performance.now() - sinceMs) / 1_000
        assert.deepStrictEqual(
          outcomes().map((count, n) => count - (before[n] ?? 0)),
          [2, 1, 1]
        )
        const [count, sum] = seconds().map((value, n) => value - (secondsBefore[n] ?? 0))
        assert.strictEqual(count, 4)
        assert.isAbove(sum ?? 0, 0)
        assert.isBelow(sum ?? 0, tookSeconds)
      })
    )
  )
})

describe("an input that may have been handled before", () => {
  /** Notes what is read of the journal, and of the events. */
  const noting =
    (read: Array<string>) =>
    (broker: BrokerShape): Partial<BrokerShape> => ({
      next: (stream, subject, after) => {
        read.push(`next of ${stream} after ${after}`)
        return broker.next(stream, subject, after)
      },
      read: (stream, subject, after) => {
        if (stream === "events") read.push(stream)
        return broker.read(stream, subject, after)
      }
    })

  it.effect("is looked up when it is delivered again, or older than a minute", () =>
    story(
      Effect.gen(function* () {
        const read: Array<string> = []
        const { handle } = yield* running(noting(read))
        const sent = (secondsAgo: number, id: string): MessageMeta => ({
          ...{ ...meta, id },
          time: new Date(startedAt - secondsAgo * 1_000).toISOString()
        })
        yield* handle(add, { meta: sent(60, "m1") })
        assert.deepStrictEqual(read, [])
        yield* handle(add, { meta: sent(61, "m2") })
        assert.isAbove(read.length, 0)
        read.length = 0
        yield* handle(add, { meta: sent(0, "m3"), redelivered: true })
        assert.isAbove(read.length, 0)
      })
    )
  )

  it.effect("leads to nothing more where it was refused, and to what it led to where it was decided", () =>
    story(
      Effect.gen(function* () {
        const read: Array<string> = []
        const { handle } = yield* running(noting(read))
        assert.strictEqual(yield* handle(forbidden), "answered")
        assert.strictEqual(yield* handle(add, { redelivered: true }), 0, "it stays refused")
        assert.deepStrictEqual(read, [])
        const other = { ...meta, id: "m2" }
        assert.strictEqual(yield* handle(add, { meta: other }), 1)
        assert.strictEqual(yield* handle(add, { meta: other, redelivered: true }), 1)
        assert.deepStrictEqual(read, ["next of journal after 0"])
        assert.lengthOf(yield* refusals, 1)
      })
    )
  )
})

describe("the view of an actor in memory", () => {
  const view = (runtime: Effect.Success<ReturnType<typeof running>>["runtime"]) =>
    currentView(runtime, (state) => state.total, key)

  it.effect("is none before its first decision", () =>
    story(
      Effect.gen(function* () {
        const { handle, runtime } = yield* running()
        assert.isUndefined(yield* view(runtime))
        yield* handle(ignored)
        assert.isUndefined(yield* view(runtime))
        yield* handle(add, { meta: { ...meta, id: "m2" } })
        assert.strictEqual(yield* view(runtime), 1)
      })
    )
  )

  it.effect("is read again after its journal could not be read", () =>
    story(
      Effect.gen(function* () {
        let fails = false
        const fault = new BrokerFault({ operation: "read", cause: "no answer" })
        const { handle, runtime } = yield* running((broker) => ({
          read: (...place) => (fails ? fault : broker.read(...place))
        }))
        yield* handle(add)
        fails = true
        assert.isTrue(Exit.isFailure(yield* Effect.exit(view(runtime))))
        assert.isUndefined(runtime.memory.peek(key))
        fails = false
        assert.strictEqual(yield* view(runtime), 1)
      })
    )
  )
})
