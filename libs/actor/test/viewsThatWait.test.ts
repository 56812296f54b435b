/** The view writer of an actor by itself: how long a view waits, and which inputs wait for it. */
import { assert, describe, it } from "@effect/vitest"
import { Key } from "@reprise/protocol"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import type { Actor } from "../src/Actor.ts"
import { ActorConfig } from "../src/ActorConfig.ts"
import { Broker, type BrokerShape } from "../src/broker/Broker.ts"
import { BrokerFault } from "../src/broker/faults.ts"
import { makeReceipts } from "../src/runtime/Receipts.ts"
import { makeViewWriter } from "../src/runtime/ViewWriter.ts"
import { makeViewMark } from "../src/runtime/views.ts"
import { noteLog } from "./support/noteLog.ts"
import { startedAt, story } from "./support/oneRuntime.ts"

const key = Key.make("a")
const trouble = new BrokerFault({ operation: "write", cause: "no answer" })
type Put = ReturnType<BrokerShape["views"]["put"]>

/** The writer of an actor whose state is its total, and when it stored a view, in milliseconds since the start. */
const writing = Effect.fnUntraced(function* (
  options: { readonly put?: (go: Put) => Put; readonly view?: ((total: number) => unknown) | "none" } = {}
) {
  const { put = (go) => go, view = (total: number) => ({ total }) } = options
  const broker = yield* Broker
  const settings = yield* Effect.provide(ActorConfig, ActorConfig.layer({ viewEveryMs: 250 }))
  const writtenAt: Array<number> = []
  const note = Effect.map(Clock.currentTimeMillis, (now) => writtenAt.push(now - startedAt))
  const { views } = broker
  const noting = { ...views, put: (...args: Parameters<typeof views.put>) => Effect.tap(put(views.put(...args)), note) }
  const actor = { service: "gate", ...(view === "none" ? {} : { view }) } as Actor<number, never, never>
  const writer = yield* makeViewWriter(actor, { ...broker, views: noting }, settings)
  const loaded = {
    ...{ state: 0, sequence: 0, freshFor: 0, receipts: makeReceipts(1), earlier: new Map(), sent: new Map() },
    ...{ eventsSinceSnapshot: 0, traceparent: undefined, step: undefined, usedAt: startedAt, view: makeViewMark() }
  }
  /** The view has to tell of the decision at this sequence. */
  const decide = (sequence: number) => {
    loaded.sequence = sequence
    loaded.state = sequence * 10
    writer.changed(key, loaded)
  }
  const acknowledged: Array<string> = []
  /** The input that led to the decision at this sequence has been handled. */
  const handled = (sequence: number, input: string) => writer.whenStored(key, sequence, () => acknowledged.push(input))
  return { writer, loaded, decide, handled, acknowledged, writtenAt }
})

describe("a view that waits", () => {
  it.effect.each([
    ["until a burst is over where the last was stored long ago", -10_000, 20],
    ["until the time is up where the last was stored a moment ago", -100, 150],
    ["no longer than the time that is set, though the clock was set back", 5_000, 250]
  ] as const)("does so %s", ([, storedAtMs, waitsMs]) =>
    story(
      Effect.gen(function* () {
        const { decide, loaded, writtenAt } = yield* writing()
        loaded.view.writtenAtMs = startedAt + storedAtMs
        decide(1)
        yield* TestClock.adjust(`${waitsMs - 1} millis`)
        assert.deepStrictEqual(writtenAt, [])
        yield* TestClock.adjust("1 millis")
        assert.deepStrictEqual(writtenAt, [waitsMs])
      })
    )
  )

  it.effect("holds the input of its newest decision, and those of earlier ones no more", () =>
    story(
      Effect.gen(function* () {
        const { acknowledged, decide, handled } = yield* writing()
        handled(1, "nothing waits")
        decide(5)
        handled(5, "5")
        handled(5, "5 again")
        handled(4, "4")
        handled(0, "refused")
        assert.deepStrictEqual(acknowledged, ["nothing waits", "5 again", "4", "refused"])
        decide(6)
        handled(6, "6")
        assert.deepStrictEqual(acknowledged.slice(4), ["5"])
        yield* TestClock.adjust("250 millis")
        assert.deepStrictEqual(acknowledged.slice(5), ["6"])
      })
    )
  )

  it.effect("holds no input any more half a minute after the broker took no view", () =>
    story(
      Effect.gen(function* () {
        let fails = true
        const { acknowledged, decide, handled, writtenAt } = yield* writing({
          put: (go) => Effect.suspend(() => (fails ? Effect.fail(trouble) : go))
        })
        decide(1)
        yield* TestClock.adjust("20 millis")
        handled(1, "early")
        yield* TestClock.setTime(startedAt + 20 + 29_999)
        assert.deepStrictEqual(acknowledged, [])
        yield* TestClock.setTime(startedAt + 20 + 30_000)
        handled(2, "late")
        assert.include(acknowledged, "late")
        yield* TestClock.adjust("5 seconds")
        assert.sameMembers(acknowledged, ["early", "late"])
        assert.deepStrictEqual(writtenAt, [])
        fails = false
        yield* TestClock.adjust("5 seconds")
        assert.lengthOf(writtenAt, 1)
      })
    )
  )

  it.effect("is of a decision that nobody heard of yet, and is stored later when the broker fails", () => {
    const lines: Array<string> = []
    return story(
      Effect.gen(function* () {
        let fails = true
        const { loaded, writer, writtenAt } = yield* writing({
          put: (go) => Effect.suspend(() => (fails ? Effect.fail(trouble) : go))
        })
        loaded.sequence = 1
        yield* writer.store(key, loaded)
        assert.deepStrictEqual(lines, ["the view was not written"])
        assert.deepStrictEqual([...writer.unstored()], [["gate.a", { sequence: 1, view: { total: 0 } }]])
        fails = false
        yield* TestClock.adjust("250 millis")
        assert.lengthOf(writtenAt, 1)
      }).pipe(Effect.provide(noteLog(lines)))
    )
  })

  it.effect("is given up when the actor's code throws, so that its input waits for nothing", () => {
    const lines: Array<string> = []
    return story(
      Effect.gen(function* () {
        const { acknowledged, decide, handled, writtenAt } = yield* writing({
          view: (total) => {
            if (total > 10) throw new Error("oh")
            return { total }
          }
        })
        decide(2)
        handled(2, "2")
        yield* TestClock.adjust("250 millis")
        assert.deepStrictEqual([acknowledged, writtenAt], [["2"], []])
        assert.match(lines.join(), /^the view was not written( Error: oh.*)?$/s)
        decide(1)
        yield* TestClock.adjust("250 millis")
        assert.lengthOf(writtenAt, 1)
      }).pipe(Effect.provide(noteLog(lines)))
    )
  })

  it.effect("is none of an actor that has nothing to show, or no views at all", () =>
    story(
      Effect.gen(function* () {
        for (const view of [() => undefined, "none"] as const) {
          const { acknowledged, decide, handled, loaded, writer, writtenAt } = yield* writing({ view })
          decide(1)
          assert.deepStrictEqual([...writer.unstored()], [])
          yield* writer.store(key, loaded)
          yield* TestClock.adjust("250 millis")
          handled(1, "1")
          assert.deepStrictEqual([writtenAt, acknowledged], [[], ["1"]])
        }
      })
    )
  )

  it.effect("holds up no input of an actor that has no views", () =>
    story(
      Effect.gen(function* () {
        const { acknowledged, decide, handled } = yield* writing({ view: "none" })
        decide(1)
        handled(1, "1")
        assert.deepStrictEqual(acknowledged, ["1"])
      })
    )
  )
})
