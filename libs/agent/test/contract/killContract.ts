/**
 * What an agent over the protocol keeps when it is killed: the moments of the kill table
 * (test/faults/killTable.e2e.test.ts) at which its session has begun.
 */
import { execFileSync } from "node:child_process"
import { open } from "node:fs/promises"
import { join } from "node:path"
import { assert, describe, layer } from "@effect/vitest"
import type { ScriptedModel } from "@reprise/scripted-model"
import { Context, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { AgentRuntime } from "../../src/index.ts"
import { type AcpProcesses, acpRuntime, promptsSeen } from "./acpWorld.ts"
import type { Places } from "./Places.ts"
import { newIds, newSession, say, userMessages, World } from "./World.ts"

/** What another process would have; it ends with the scope, and its agent with it. */
const runtimeOfItsOwn = Effect.map(Layer.build(Layer.fresh(acpRuntime)), (context) =>
  Context.get(context, AgentRuntime)
)

const goesOn = "Your turn was interrupted. Continue where you left off. If you had finished, repeat your last message."

/** Completes once a tool reads from the pipe. Gives what lets the tool go on. */
const readerOf = Effect.fnUntraced(function* (path: string) {
  const fifo = yield* Effect.acquireRelease(
    Effect.promise(() => open(path, "w")),
    (file) => Effect.promise(() => file.close())
  )
  return Effect.ignore(Effect.tryPromise(() => fifo.write("go on\n")))
})

export const killContract = <E>(
  name: string,
  world: Layer.Layer<AgentRuntime | World | ScriptedModel | Places | AcpProcesses, E>
) =>
  describe(`AgentRuntime: ${name}, killed`, () => {
    layer(world, { excludeTestServices: true, timeout: "15 minutes" })((it) => {
      it.effect("before its first prompt, goes on in its session", () =>
        Effect.gen(function* () {
          const { crash } = yield* World
          const id = yield* newSession()
          yield* crash
          assert.strictEqual((yield* say(id, "say hello")).text, "hello")
          assert.strictEqual((yield* say(id, "turn number")).text, "turn 2")
          assert.strictEqual(yield* userMessages(id), 2)
        })
      )

      it.effect("while its first prompt is unanswered, completes the turn, and its model sees the prompt once", () =>
        Effect.gen(function* () {
          const { crash, reached, release } = yield* World
          const id = yield* newSession()
          const turn = yield* Effect.forkChild(say(id, "hold first"))
          yield* reached("first")
          yield* crash
          yield* release("first")
          assert.strictEqual((yield* Fiber.join(turn)).text, "released")
          assert.deepStrictEqual(
            (yield* promptsSeen).filter((text) => text !== goesOn),
            ["hold first"]
          )
          assert.strictEqual(yield* userMessages(id), 1)
        })
      )

      it.effect("while a tool runs, completes the turn, and its model sees the prompt once", () =>
        Effect.gen(function* () {
          const { crash, directory } = yield* World
          const id = yield* newSession()
          yield* say(id, "say before")
          const fifo = join(directory, "tool.fifo")
          execFileSync("mkfifo", [fifo])
          const turn = yield* Effect.forkChild(say(id, `run read line < ${fifo}`))
          const goOn = yield* readerOf(fifo)
          execFileSync("rm", [fifo])
          yield* crash
          yield* goOn
          assert.strictEqual((yield* Fiber.join(turn)).stopReason, "finished")
          const seen = (yield* promptsSeen).filter((text) => text !== goesOn)
          assert.deepStrictEqual(seen, ["say before", `run read line < ${fifo}`])
        }).pipe(Effect.scoped)
      )

      it.effect("between two prompts, goes on in its session with the whole conversation", () =>
        Effect.gen(function* () {
          const { crash } = yield* World
          const id = yield* newSession()
          yield* say(id, "say one")
          yield* say(id, "say two")
          yield* crash
          assert.strictEqual((yield* say(id, "turn number")).text, "turn 3")
          assert.deepStrictEqual(yield* promptsSeen, ["say one", "say two", "turn number"])
          assert.strictEqual(yield* userMessages(id), 3)
        })
      )

      // The last one: a runtime of another owner ends the agent of this one.
      it.effect(
        "together with Reprise, completes the turn when it is prompted again, and its model sees the prompt once",
        () =>
          Effect.gen(function* () {
            const { directory, reached, release } = yield* World
            const promptId = newIds()
            const started = yield* Scope.make()
            const before = yield* Scope.provide(runtimeOfItsOwn, started)
            const id = yield* before.create({ directory, title: "both", permissions: "all" })
            // When an agent saves a session in which it has said nothing yet, is its own affair.
            yield* before.prompt({ runtimeSessionId: id, directory, promptId: newIds(), text: "say before" })
            const prompt = { runtimeSessionId: id, directory, promptId, text: "hold both" }
            yield* Effect.forkScoped(Effect.ignore(before.prompt(prompt)))
            yield* reached("both")
            yield* Scope.close(started, Exit.void)
            yield* release("both")
            const after = yield* runtimeOfItsOwn
            assert.strictEqual((yield* after.prompt(prompt)).text, "released")
            assert.deepStrictEqual(
              (yield* promptsSeen).filter((text) => text !== goesOn),
              ["say before", "hold both"]
            )
          }).pipe(Effect.scoped)
      )
    })
  })
