import { assert, describe, it } from "@effect/vitest"
import { ActorConfig, MemoryBroker, Messenger } from "@reprise/actor"
import { AgentError, AgentRuntime, AgentRuntimes } from "@reprise/agent"
import { Duration, Effect, Layer } from "effect"
import { layerWith } from "../src/service.ts"
import { forked, forkId, script } from "./support/forked.ts"
import { inMemory, stage } from "./support/stage.ts"

/** In memory as well, on a runtime that cannot fork. `tells`: whether it has the conversations. */
const withoutForks = (tells: () => boolean) =>
  layerWith({ idleGrace: Duration.millis(50) }).pipe(
    Layer.provideMerge(
      Layer.effect(
        AgentRuntimes,
        Effect.map(AgentRuntime, (own) =>
          AgentRuntimes.make([
            {
              ...own,
              fork: () =>
                new AgentError({ kind: "other", operation: "fork", detail: "It cannot.", sessionUsable: true }),
              history: (id) => (tells() ? own.history(id) : Effect.succeed([]))
            }
          ])
        )
      )
    ),
    Layer.provideMerge(AgentRuntime.layerMemory({ script })),
    Layer.provideMerge(Messenger.layer),
    Layer.provideMerge(MemoryBroker.layer),
    Layer.provideMerge(ActorConfig.layer())
  )

describe("a fork on a runtime", () => {
  it.live("has the conversation up to its turn, and leaves the original as it is", () =>
    Effect.gen(function* () {
      const { fork, original, view } = yield* forked(1)
      const { runtimeSessionId } = yield* fork.awaitEvent("SessionCreated")
      const done = yield* fork.awaitEvent("TurnCompleted")
      const runtime = yield* AgentRuntime
      const said = JSON.stringify(yield* runtime.history(runtimeSessionId))
      assert.include(said, "The first words.")
      assert.include(said, "Try it otherwise.")
      assert.notInclude(said, "The second words.")
      const { messages, pastTurns, tokens } = yield* view()
      assert.deepStrictEqual([messages, pastTurns, tokens], [original.messages, original.pastTurns, original.tokens])
      assert.strictEqual((yield* runtime.history(original.runtimeSessionId ?? "")).length, 4)
      assert.isBelow(done.tokens.input, original.tokens.input, "what was said before was paid for by the original")
      assert.deepStrictEqual((yield* view(forkId)).tokens, done.tokens)
    }).pipe(Effect.provide(inMemory(script)))
  )

  it.live("is told what was said up to its turn where the runtime cannot fork", () =>
    Effect.gen(function* () {
      const { fork } = yield* forked(1)
      const { forkTold, runtimeSessionId } = yield* fork.awaitEvent("SessionCreated")
      assert.strictEqual(forkTold, "It cannot.", "whoever forks is told why it was not copied")
      yield* fork.awaitEvent("TurnCompleted")
      const runtime = yield* AgentRuntime
      const [prompt] = yield* runtime.history(runtimeSessionId)
      const text = JSON.stringify(prompt)
      assert.include(text, "Try it otherwise.")
      assert.include(text, "The first words.")
      assert.notInclude(text, "The second words.")
    }).pipe(Effect.provide(withoutForks(() => true)))
  )

  it.live("is told what was saved up to its turn where the runtime has lost the session", () => {
    let isLost = false
    const lose = Effect.sync(() => {
      isLost = true
    })
    return Effect.gen(function* () {
      const { view } = yield* stage
      const untilSaved = Effect.repeat(view(), { until: ({ savedAt }) => savedAt !== undefined })
      const { fork } = yield* forked(1, { before: Effect.andThen(untilSaved, lose) })
      yield* fork.awaitEvent("SessionCreated")
      isLost = false
      const { runtimeSessionId } = yield* fork.awaitEvent("SessionCreated")
      const runtime = yield* AgentRuntime
      yield* fork.awaitEvent("TurnCompleted")
      const text = JSON.stringify((yield* runtime.history(runtimeSessionId))[0])
      assert.include(text, "The first words.")
      assert.notInclude(text, "The second words.")
    }).pipe(Effect.provide(withoutForks(() => !isLost)))
  })

  it.live("fails, and says why, where the runtime cannot fork and nothing was saved", () =>
    Effect.gen(function* () {
      const { fork } = yield* forked(1)
      const { reason } = yield* fork.awaitEvent("SessionFailed")
      assert.include(reason, "It cannot. Nothing of it was saved either, so start a new session.")
    }).pipe(Effect.provide(withoutForks(() => false)))
  )
})
