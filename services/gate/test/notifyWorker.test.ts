/** What takes hours: the actors and the worker in virtual time, and a real receiver. */
import { assert, describe, it } from "@effect/vitest"
import { ActorConfig, MemoryBroker, Messenger } from "@reprise/actor"
import { EscalationId, RunId, to } from "@reprise/protocol"
import { startReceiver } from "@reprise/testing"
import { Clock, Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { layerWith, type NotifyOptions } from "../src/index.ts"
import { question } from "./fixtures.ts"

const minuteMs = 60_000

/** Time moves in steps of a minute, so a heartbeat is due in each. */
const world = Messenger.layer.pipe(
  Layer.provideMerge(MemoryBroker.layer),
  Layer.provideMerge(ActorConfig.layer({ prefix: "t", heartbeatMs: minuteMs / 2, ackWaitMs: 60 * minuteMs }))
)

const startGate = (url: string, options: Partial<NotifyOptions> = {}) =>
  Layer.build(
    layerWith({
      channels: [
        {
          name: "hook",
          preset: "webhook",
          url: Redacted.make(url),
          secret: Redacted.make("s"),
          reminders: true
        }
      ],
      ...options
    })
  )

const ask = (run: string) =>
  Messenger.use((messenger) => {
    const id = { runId: RunId.make(run), escalationId: EscalationId.make(`${run}-e1`) }
    return messenger.send({ service: "gate", key: id.escalationId, command: question(id) })
  })

/** What is under way in the process and at the receiver goes on; no virtual time passes. */
const turn = Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))
const turns = Effect.repeat(turn, { times: 20 })

/** Lets minutes pass until then; gives how many there were since 1970. */
const minutesUntil = <E, R>(condition: Effect.Effect<boolean, E, R>) =>
  turns.pipe(
    Effect.andThen(condition),
    Effect.tap((met) => (met ? Effect.void : TestClock.adjust("1 minute"))),
    Effect.repeat({ until: (met) => met }),
    Effect.andThen(Effect.map(Clock.currentTimeMillis, (nowMs) => nowMs / minuteMs))
  )

const letters = Messenger.use((messenger) => messenger.deadLetters())

/** `22:00`, so many minutes from the beginning of the virtual time. */
const timeOfDay = (minutes: number): string => {
  const time = new Date(minutes * minuteMs)
  return [time.getHours(), time.getMinutes()].map((part) => `${part}`.padStart(2, "0")).join(":")
}

describe("the delivery of notifications", () => {
  it.effect("is given up after a day of failures, and the dead letter says so in plain words", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver(() => ({ status: 500 }))
      yield* startGate(receiver.url)
      yield* ask("r1")
      const minutes = yield* minutesUntil(Effect.map(letters, ({ length }) => length > 0))
      assert.isAtLeast(minutes, 24 * 60)
      assert.isAtMost(minutes, 25 * 60)
      const [letter] = yield* letters
      assert.strictEqual(
        letter?.content?.reason,
        "The work was given up: Telling channel 'hook' that question r1-e1 was raised failed: it answered 500, for a day. 'reprise notify test hook' tries the channel"
      )
      assert.isAbove(receiver.requests.length, 20)
      assert.isBelow(receiver.requests.length, 90)
      assert.deepStrictEqual(
        [...new Set(receiver.requests.map(({ headers }) => headers["reprise-delivery"]))],
        ["r1-e1.hook.raised"]
      )
    }).pipe(Effect.provide(world))
  )

  it.effect("waits for the end of the quiet hours, and leaves out what was answered in them", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver()
      yield* startGate(receiver.url, { quietHours: `${timeOfDay(-60)}-${timeOfDay(120)}` })
      yield* ask("r2")
      yield* ask("r3")
      yield* minutesUntil(Effect.map(Clock.currentTimeMillis, (nowMs) => nowMs >= 30 * minuteMs))
      yield* Messenger.use((messenger) =>
        messenger.send(to.gate(EscalationId.make("r3-e1")).AnswerEscalation({ choice: "fix", by: "ada", via: "cli" }))
      )
      const minutes = yield* minutesUntil(Effect.sync(() => receiver.requests.length > 0))
      assert.isAtLeast(minutes, 120)
      assert.isAtMost(minutes, 140)
      yield* minutesUntil(Effect.map(Clock.currentTimeMillis, (nowMs) => nowMs >= 200 * minuteMs))
      const raised = receiver.requests.map(({ headers }) => `${headers["reprise-delivery"]}`)
      assert.strictEqual(raised[0], "r2-e1.hook.raised")
      assert.isTrue(
        raised.every((delivery) => delivery.startsWith("r2-")),
        "nothing of the answered question"
      )
    }).pipe(Effect.provide(world))
  )

  it.effect("reminds after ten minutes and then every hour, with the question's own subject", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver()
      yield* startGate(receiver.url)
      yield* ask("r4")
      yield* minutesUntil(Effect.sync(() => receiver.requests.length === 1))
      const first = yield* minutesUntil(Effect.sync(() => receiver.requests.length === 2))
      const second = yield* minutesUntil(Effect.sync(() => receiver.requests.length === 3))
      assert.approximately(first, 20, 10)
      assert.approximately(second - first, 70, 10)
      assert.deepStrictEqual(
        receiver.requests.map(({ body }) => {
          const { delivery, subject } = JSON.parse(body) as { readonly delivery: string; readonly subject: string }
          return [delivery, subject]
        }),
        [
          ["r4-e1.hook.raised", "r4-e1.hook"],
          ["r4-e1.hook.reminder.1", "r4-e1.hook"],
          ["r4-e1.hook.reminder.2", "r4-e1.hook"]
        ]
      )
    }).pipe(Effect.provide(world))
  )
})
