/** What every runtime keeps of the copies of a session. */
import { mkdirSync, readFileSync, realpathSync } from "node:fs"
import { join } from "node:path"
import { assert, type Vitest } from "@effect/vitest"
import { subtractUsage } from "@reprise/protocol"
import { Effect, Fiber, Result } from "effect"
import { AgentRuntime } from "../../src/index.ts"
import type { Untold } from "./Untold.ts"
import { awaitEvent, forkOf, newIds, newSession, prompting, recordEvents, say, textOf, World } from "./World.ts"

export const forkContract = (it: Vitest.MethodsNonLive<AgentRuntime | World>, tells: (what: Untold) => boolean) => {
  it.effect.runIf(tells("fork"))("forks a conversation and leaves the original alone", () =>
    Effect.gen(function* () {
      const runtime = yield* AgentRuntime
      const id = yield* newSession("ask")
      yield* say(id, "say original")
      const forked = yield* runtime.fork(yield* forkOf(id, "ask"))
      assert.notStrictEqual(forked, id)
      assert.strictEqual((yield* say(forked, "turn number")).text, "turn 2")
      assert.strictEqual((yield* runtime.inspect(id)).messageCount, 2)
      if (!tells("permissions")) return
      const seen = yield* recordEvents
      const turn = yield* Effect.forkChild(say(forked, "run touch forked"))
      const { promptId } = yield* awaitEvent(seen, prompting)
      const reply = { kind: "permission", reply: "once" } as const
      yield* runtime.reply({ runtimeSessionId: forked, promptId, reply })
      yield* Fiber.join(turn)
    })
  )

  it.effect("forks a conversation at an earlier turn, and its agent sees nothing that came after", () =>
    Effect.gen(function* () {
      const runtime = yield* AgentRuntime
      const id = yield* newSession()
      const first = newIds()
      yield* say(id, "say first", first)
      yield* say(id, "say second")
      const asked = yield* Effect.result(runtime.fork({ ...(yield* forkOf(id)), through: first.messageId }))
      if (!tells("forks in part")) {
        assert.isTrue(Result.isFailure(asked) && asked.failure.sessionUsable)
        return
      }
      const forked = Result.getOrThrow(asked)
      const before = yield* runtime.inspect(forked)
      assert.deepStrictEqual((yield* runtime.history(forked)).map(textOf), ["say first", "first"])
      const { tokens } = yield* say(forked, "turn number")
      assert.deepStrictEqual((yield* runtime.history(forked)).map(textOf).slice(2), ["turn number", "turn 2"])
      const after = yield* runtime.inspect(forked)
      assert.deepStrictEqual(subtractUsage(after.usage, before.usage).tokens, tokens)
      assert.strictEqual((yield* runtime.inspect(id)).messageCount, 4)
    })
  )

  it.effect("forks a conversation into another directory, where its agent works", () =>
    Effect.gen(function* () {
      const { directory } = yield* World
      const runtime = yield* AgentRuntime
      const id = yield* newSession()
      yield* say(id, "say here")
      const other = join(directory, "..", "other")
      if (tells("files")) mkdirSync(other)
      const asked = yield* Effect.result(runtime.fork({ ...(yield* forkOf(id)), directory: other }))
      if (!tells("forks in part")) {
        assert.isTrue(Result.isFailure(asked) && asked.failure.sessionUsable)
        return
      }
      const forked = Result.getOrThrow(asked)
      const promptId = newIds()
      const text = "run pwd > where.txt"
      yield* runtime.prompt({ runtimeSessionId: forked, directory: other, promptId, text })
      assert.deepStrictEqual((yield* runtime.history(forked)).map(textOf).slice(0, 2), ["say here", "here"])
      if (tells("files")) assert.strictEqual(readFileSync(join(other, "where.txt"), "utf8").trim(), realpathSync(other))
    })
  )

  it.effect("forks a conversation whose agent is at work up to the turn before", () =>
    Effect.gen(function* () {
      const { reached, release } = yield* World
      const runtime = yield* AgentRuntime
      const id = yield* newSession()
      const first = newIds()
      yield* say(id, "say first", first)
      const working = yield* Effect.forkChild(say(id, "hold fork"))
      yield* reached("fork")
      if (tells("forks in part")) {
        const forked = yield* runtime.fork({ ...(yield* forkOf(id)), through: first.messageId })
        assert.strictEqual((yield* say(forked, "turn number")).text, "turn 2")
      }
      assert.strictEqual((yield* runtime.inspect(id)).state._tag, "busy")
      yield* release("fork")
      assert.strictEqual((yield* Fiber.join(working)).text, "released")
    })
  )
}
