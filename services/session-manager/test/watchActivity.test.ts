import { assert, describe, it } from "@effect/vitest"
import { Broker, drain, Messenger } from "@reprise/actor"
import { AgentError, AgentRuntime, AgentRuntimes, MemoryControl, type MemoryScript, promptIds } from "@reprise/agent"
import { Host, type PublicEventType, subjects } from "@reprise/protocol"
import { Deferred, Duration, Effect, Fiber, Layer, Stream } from "effect"
import { actorsWith, layerWith, workersWith } from "../src/service.ts"
import { toSession } from "../src/work/report.ts"
import { inMemory, stage, surroundings } from "./support/stage.ts"
import { goodReport, newTurn, sessionId, t } from "./support/story.ts"

const first = newTurn(1, { host: Host.make("local") })
const watchOf = subjects("reprise").watch(Host.make("local"))
const ofHuman = (n: number) => promptIds(1_000, "a human", n)

/** The agent uses a hundred tools for a human's prompt, and waits until the test releases it. */
const script: MemoryScript = ({ text }) => {
  if (text.startsWith("human")) {
    return [...Array.from({ length: 100 }, () => ({ tool: "bash" })), { hold: text }, { say: "Yes." }]
  }
  return [{ say: text.includes("JSON") ? goodReport : "I did it." }]
}

const human = (runtimeSessionId: string, text: string, n: number) =>
  AgentRuntime.use((runtime) =>
    runtime.prompt({ runtimeSessionId, directory: first.directory, promptId: ofHuman(n), text })
  )

const aboutAgents = (story: ReadonlyArray<PublicEventType>) => story.filter((tag) => tag.startsWith("Agent"))

describe("a human who steps into an idle session", () => {
  it.live("is announced once as working, however much the agent does, and as idle at the end", () => {
    const control = new MemoryControl()
    return Effect.gen(function* () {
      const { awaitEvent, send, storyUntil } = yield* stage
      yield* send(first)
      const { runtimeSessionId } = yield* awaitEvent("SessionCreated")
      yield* awaitEvent("TurnCompleted")
      yield* drain
      const typed = yield* Effect.forkChild(human(runtimeSessionId, "human 1", 1))
      const seen = yield* awaitEvent("AgentWorking", 2)
      assert.deepInclude(seen, { cause: "human", sessionId, phase: "2" })
      yield* control.reached("human 1")
      yield* control.release("human 1")
      yield* awaitEvent("AgentIdle")
      yield* Fiber.join(typed)
      assert.deepStrictEqual(aboutAgents(yield* storyUntil("AgentIdle")), ["AgentWorking", "AgentWorking", "AgentIdle"])
    }).pipe(Effect.provide(inMemory(script, { control })))
  })

  it.live("is noticed after a restart of the session-manager, without any new event", () => {
    const control = new MemoryControl()
    return Effect.gen(function* () {
      const { awaitEvent, send } = yield* stage
      const runtimeSessionId = yield* Effect.gen(function* () {
        yield* send(first)
        const created = yield* awaitEvent("SessionCreated")
        yield* awaitEvent("TurnCompleted")
        yield* drain
        return created.runtimeSessionId
      }).pipe(Effect.provide(Layer.fresh(layerWith({ idleGrace: Duration.millis(50) }))))

      const typed = yield* Effect.forkChild(human(runtimeSessionId, "human 2", 2))
      yield* control.reached("human 2")
      yield* Effect.gen(function* () {
        assert.deepInclude(yield* awaitEvent("AgentWorking", 2), { cause: "human" })
        yield* control.release("human 2")
        yield* awaitEvent("AgentIdle")
      }).pipe(Effect.provide(Layer.fresh(layerWith({ idleGrace: Duration.millis(50) }))))
      yield* Fiber.join(typed)
    }).pipe(Effect.provide(surroundings(script, control)))
  })
})

describe("who asks the watch who is at work", () => {
  it.live("is answered once it has looked at every session, also at those that a human used meanwhile", () => {
    const control = new MemoryControl()
    const manager = Layer.fresh(layerWith({ idleGrace: Duration.millis(50) }))
    return Effect.gen(function* () {
      const { awaitEvent, send } = yield* stage
      const broker = yield* Broker
      const atWork = broker.request(watchOf, "")
      const runtimeSessionId = yield* Effect.gen(function* () {
        yield* send(first)
        const created = yield* awaitEvent("SessionCreated")
        yield* awaitEvent("TurnCompleted")
        yield* drain
        assert.strictEqual(yield* atWork, `{"sessions":[]}`)
        return created.runtimeSessionId
      }).pipe(Effect.provide(manager))
      assert.isUndefined(yield* atWork, "nobody watches")

      const typed = yield* Effect.forkChild(human(runtimeSessionId, "human 4", 4))
      yield* control.reached("human 4")
      yield* Effect.gen(function* () {
        assert.strictEqual(yield* atWork, `{"sessions":["${sessionId}"]}`)
        yield* control.release("human 4")
        yield* awaitEvent("AgentIdle")
        yield* drain
        assert.strictEqual(yield* atWork, `{"sessions":[]}`)
      }).pipe(Effect.provide(manager))
      yield* Fiber.join(typed)
    }).pipe(Effect.provide(surroundings(script, control)))
  })
})

describe("a human who finishes while no session-manager runs", () => {
  it.live("is announced as idle by the next one", () => {
    const control = new MemoryControl()
    return Effect.gen(function* () {
      const { awaitEvent, send } = yield* stage
      const typed = yield* Effect.gen(function* () {
        yield* send(first)
        const { runtimeSessionId } = yield* awaitEvent("SessionCreated")
        yield* awaitEvent("TurnCompleted")
        yield* drain
        const typing = yield* Effect.forkDetach(human(runtimeSessionId, "human 3", 3))
        yield* awaitEvent("AgentWorking", 2)
        yield* control.reached("human 3")
        yield* drain
        return typing
      }).pipe(Effect.provide(Layer.fresh(layerWith({ idleGrace: Duration.millis(50) }))))
      yield* control.release("human 3")
      yield* Fiber.join(typed)
      yield* awaitEvent("AgentIdle").pipe(Effect.provide(Layer.fresh(layerWith({ idleGrace: Duration.millis(50) }))))
    }).pipe(Effect.provide(surroundings(script, control)))
  })
})

describe("a human who works while no session-manager runs", () => {
  it.live("is announced as working and idle by the next one, and by none after it", () => {
    const control = new MemoryControl()
    return Effect.gen(function* () {
      const { awaitEvent, send, storyUntil, view } = yield* stage
      const manager = Layer.fresh(layerWith({ idleGrace: Duration.millis(50) }))
      yield* Effect.gen(function* () {
        yield* send(first)
        yield* awaitEvent("TurnCompleted")
        yield* drain
      }).pipe(Effect.provide(manager))
      const { runtimeSessionId } = yield* awaitEvent("SessionCreated")
      yield* control.release("human 6")
      yield* human(runtimeSessionId, "human 6", 6)
      yield* Effect.gen(function* () {
        assert.deepInclude(yield* awaitEvent("AgentWorking", 2), { cause: "human", evidence: "message" })
        yield* awaitEvent("AgentIdle")
        assert.strictEqual((yield* view()).knownPromptIds?.at(-1), ofHuman(6).messageId)
      }).pipe(Effect.provide(manager))
      yield* Effect.gen(function* () {
        yield* send({ ...first, turnId: t(2), session: { _tag: "Existing", sessionId } })
        yield* awaitEvent("TurnCompleted", 2)
        yield* send({ _tag: "CompleteSession", sessionId })
        yield* awaitEvent("SessionCompleted")
      }).pipe(Effect.provide(manager))
      assert.deepStrictEqual(aboutAgents(yield* storyUntil("SessionCompleted")), [
        "AgentWorking",
        "AgentWorking",
        "AgentIdle",
        "AgentWorking"
      ])
    }).pipe(Effect.provide(surroundings(script, control)))
  })
})

describe("a human who worked before the watch began", () => {
  it.live("is noticed although the agents' runtime could not be reached when the watch began", () => {
    const control = new MemoryControl()
    const failures = [1, 2]
    const unreachable = new AgentError({
      operation: "inspect",
      kind: "gone",
      detail: "No answer.",
      sessionUsable: true
    })
    const late = Layer.effect(
      AgentRuntimes,
      AgentRuntime.use((runtime) =>
        Effect.sync(() => {
          const inspect: typeof runtime.inspect = (id) =>
            Effect.suspend(() => (failures.pop() === undefined ? runtime.inspect(id) : Effect.fail(unreachable)))
          return AgentRuntimes.make([{ ...runtime, inspect }])
        })
      )
    )
    const manager = layerWith({ idleGrace: Duration.millis(50) })
    return Effect.gen(function* () {
      const { awaitEvent, send } = yield* stage
      yield* Effect.gen(function* () {
        yield* send(first)
        yield* awaitEvent("TurnCompleted")
        yield* drain
      }).pipe(Effect.provide(Layer.fresh(manager)))
      const { runtimeSessionId } = yield* awaitEvent("SessionCreated")
      yield* control.release("human 8")
      yield* human(runtimeSessionId, "human 8", 8)
      yield* Effect.gen(function* () {
        assert.deepInclude(yield* awaitEvent("AgentWorking", 2), { cause: "human", evidence: "message" })
        yield* awaitEvent("AgentIdle")
      }).pipe(Effect.provide(Layer.fresh(manager.pipe(Layer.provide(late)))))
    }).pipe(Effect.provide(surroundings(script, control)))
  })
})

describe("a turn that ends after its session was looked up, before the broker tells events to the watch", () => {
  it.live("is over for the watch, which notices the human who works there next", () => {
    const control = new MemoryControl()
    const working: MemoryScript = (prompt) =>
      prompt.text.startsWith("human") ? script(prompt) : [{ hold: "work" }, { say: goodReport }]
    return Effect.gen(function* () {
      const { awaitEvent, send } = yield* stage
      const broker = yield* Broker
      yield* Effect.gen(function* () {
        yield* send(first)
        yield* control.reached("work")
      }).pipe(Effect.provide(Layer.fresh(layerWith())))
      const told = yield* Deferred.make<void>()
      const follow: typeof broker.follow = (...events) =>
        Stream.unwrap(Effect.as(Deferred.await(told), broker.follow(...events)))
      const manager = Layer.fresh(workersWith({ idleGrace: Duration.millis(50) })).pipe(
        Layer.provide(Layer.succeed(Broker, { ...broker, follow })),
        Layer.provideMerge(actorsWith())
      )
      yield* Effect.gen(function* () {
        assert.isDefined(yield* broker.request(watchOf, ""), "every session was looked up")
        yield* control.release("work")
        yield* awaitEvent("TurnCompleted")
        yield* Deferred.succeed(told, undefined)
        yield* drain
        const { runtimeSessionId } = yield* awaitEvent("SessionCreated")
        yield* control.release("human 9")
        yield* human(runtimeSessionId, "human 9", 9)
        assert.deepInclude(yield* awaitEvent("AgentWorking", 2), { cause: "human" })
        yield* awaitEvent("AgentIdle")
      }).pipe(Effect.provide(manager))
    }).pipe(Effect.provide(surroundings(working, control)))
  })
})

describe("a human who is idle by the time that the report of their work is read", () => {
  it.live("is announced as idle, although the watch that reported them died", () =>
    Effect.gen(function* () {
      const { awaitEvent, send } = yield* stage
      const messenger = yield* Messenger
      yield* send(first)
      yield* awaitEvent("TurnCompleted")
      yield* drain
      yield* messenger.send(toSession(sessionId, { _tag: "ReportActivity", cause: "human", evidence: "tool" }))
      assert.deepInclude(yield* awaitEvent("AgentWorking", 2), { cause: "human" })
      yield* awaitEvent("AgentIdle")
    }).pipe(Effect.provide(inMemory(script)))
  )
})

describe("a human who hands a session back", () => {
  it.live("is not waited for any longer", () => {
    const control = new MemoryControl()
    return Effect.gen(function* () {
      const { awaitEvent, send } = yield* stage
      yield* send(first)
      const { runtimeSessionId } = yield* awaitEvent("SessionCreated")
      yield* awaitEvent("TurnCompleted")
      yield* drain
      yield* control.release("human 7")
      yield* human(runtimeSessionId, "human 7", 7)
      yield* awaitEvent("AgentWorking", 2)
      yield* send({ _tag: "HandBack", sessionId })
      yield* awaitEvent("AgentIdle")
    }).pipe(Effect.provide(inMemory(script, { control, settings: { idleGrace: Duration.hours(1) } })))
  })
})

describe("a session that ends before its human counts as gone", () => {
  it.live("is not inspected any more", () => {
    const control = new MemoryControl()
    const looked: Array<string> = []
    const watched = Layer.effect(
      AgentRuntimes,
      AgentRuntime.use((runtime) =>
        Effect.sync(() => {
          const inspect: typeof runtime.inspect = (id) =>
            Effect.suspend(() => {
              looked.push(id)
              return runtime.inspect(id)
            })
          return AgentRuntimes.make([{ ...runtime, inspect }])
        })
      )
    )
    return Effect.gen(function* () {
      const { awaitEvent, send } = yield* stage
      const other = { ...first, turnId: t(2) }
      yield* send(first)
      const { runtimeSessionId } = yield* awaitEvent("SessionCreated")
      yield* awaitEvent("TurnCompleted")
      yield* send(other, "r1-s2")
      const { runtimeSessionId: otherId } = yield* awaitEvent("SessionCreated", 2)
      yield* awaitEvent("TurnCompleted", 2)
      yield* drain
      const typed = yield* Effect.forkChild(human(runtimeSessionId, "human 4", 4))
      yield* awaitEvent("AgentWorking", 3)
      yield* control.release("human 4")
      yield* Fiber.join(typed)
      yield* send({ _tag: "CompleteSession", sessionId })
      yield* awaitEvent("SessionArchived")
      yield* drain
      const before = looked.filter((id) => id === runtimeSessionId).length
      // By the other session's end more than the idle grace has passed.
      yield* control.release("human 5")
      yield* human(otherId, "human 5", 5)
      yield* awaitEvent("AgentIdle")
      assert.strictEqual(looked.filter((id) => id === runtimeSessionId).length, before)
    }).pipe(
      Effect.provide(
        layerWith({ idleGrace: Duration.millis(300) }).pipe(
          Layer.provide(watched),
          Layer.provideMerge(surroundings(script, control))
        )
      )
    )
  })
})
