/** A turn goes on when the session-manager that began it dies. */
import { assert, describe, it } from "@effect/vitest"
import { ActorConfig, Broker, drain } from "@reprise/actor"
import { AgentRuntime, MemoryControl, type MemoryScript } from "@reprise/agent"
import { Host, subjects } from "@reprise/protocol"
import { Deferred, Effect, Exit, Layer } from "effect"
import { TestClock } from "effect/testing"
import { layerWith } from "../src/service.ts"
import { stage, surroundings } from "./support/stage.ts"
import { goodReport, newTurn, sessionId } from "./support/story.ts"

const first = newTurn(1, { host: Host.make("local") })

/** Takes work over and dies with it, before anything is done. */
const takeAndDie = Effect.gen(function* () {
  const { consume } = yield* Broker
  const { ackWaitMs, host, prefix } = yield* ActorConfig
  const taken = yield* Deferred.make<void>()
  const filters = [subjects(prefix).works("session-manager", host)]
  const spec = {
    stream: "work",
    durable: `work-session-manager-${host}`,
    filters,
    maxInFlight: 1_000,
    ackWaitMs
  } as const
  yield* consume(spec, () => Deferred.doneUnsafe(taken, Exit.void))
  yield* Deferred.await(taken)
}).pipe(Effect.scoped)

describe("a turn whose session-manager dies", () => {
  it.effect("counts how often its prompt was sent, not how often it was handed to somebody who died with it", () => {
    const control = new MemoryControl()
    const script: MemoryScript = ({ text }) => [
      { hold: "work" },
      { say: text.startsWith("Now") ? goodReport : "Done." }
    ]
    return Effect.gen(function* () {
      const { awaitEvent, send } = yield* stage
      yield* Effect.gen(function* () {
        yield* send(first)
        yield* control.reached("work")
      }).pipe(Effect.provide(Layer.fresh(layerWith())))
      for (let died = 0; died < 3; died++) {
        yield* takeAndDie
        yield* TestClock.adjust("10 seconds")
      }
      yield* control.release("work")
      const completed = yield* awaitEvent("TurnCompleted").pipe(Effect.provide(Layer.fresh(layerWith())))
      assert.strictEqual(completed.attempts, 2)
    }).pipe(Effect.provide(surroundings(script, control)))
  })

  it.live("is not resumed after it was aborted meanwhile", () => {
    const control = new MemoryControl()
    return Effect.gen(function* () {
      const { awaitEvent, send } = yield* stage
      const runtime = yield* AgentRuntime
      yield* Effect.gen(function* () {
        yield* send(first)
        yield* control.reached("work")
      }).pipe(Effect.provide(Layer.fresh(layerWith())))
      yield* send({ _tag: "AbortSession", sessionId, reason: "stop" })
      yield* Effect.gen(function* () {
        assert.deepInclude(yield* awaitEvent("TurnFailed"), { kind: "aborted" })
        yield* drain
        const { runtimeSessionId } = yield* awaitEvent("SessionCreated")
        const { state } = yield* runtime.inspect(runtimeSessionId)
        assert.strictEqual(state._tag, "idle")
        assert.strictEqual(yield* control.modelCalls, 1)
      }).pipe(Effect.provide(Layer.fresh(layerWith())))
    }).pipe(Effect.provide(surroundings(() => [{ hold: "work" }], control)))
  })

  it.live("is resumed by the next one, under the same prompt", () => {
    const control = new MemoryControl()
    const working: MemoryScript = ({ text }) =>
      text.startsWith("Now report") ? [{ say: goodReport }] : [{ tool: "bash" }, { hold: "work" }, { say: "I did it." }]
    return Effect.gen(function* () {
      const { awaitEvent, send, storyUntil } = yield* stage
      const runtime = yield* AgentRuntime
      yield* Effect.gen(function* () {
        yield* send(first)
        yield* control.reached("work")
      }).pipe(Effect.provide(Layer.fresh(layerWith())))
      yield* control.release("work")
      yield* Effect.gen(function* () {
        assert.deepInclude(yield* awaitEvent("TurnCompleted"), { lastLines: "I did it." })
      }).pipe(Effect.provide(Layer.fresh(layerWith())))
      const { runtimeSessionId } = yield* awaitEvent("SessionCreated")
      const users = (yield* runtime.history(runtimeSessionId)).filter(({ role }) => role === "user")
      assert.strictEqual(users.length, 2)
      assert.strictEqual(yield* control.modelCalls, 3)
      assert.deepStrictEqual(yield* storyUntil("TurnCompleted"), [
        "SessionCreated",
        "TurnStarted",
        "AgentWorking",
        "TurnCompleted"
      ])
    }).pipe(Effect.provide(surroundings(working, control)))
  })
})
