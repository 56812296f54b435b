/** What the runtimes of vendors share beside the contract: where they write without a question, and what a subagent counts. */
import { existsSync, mkdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { assert, type Vitest } from "@effect/vitest"
import { ScriptedModel } from "@reprise/scripted-model"
import { Effect, Fiber } from "effect"
import { AgentRuntime } from "../../src/index.ts"
import { Places } from "./Places.ts"
import { awaitEvent, newIds, newSession, prompting, recordEvents, say, type World, waitUntil } from "./World.ts"

export const writesAndDelegates = <R>(it: Vitest.MethodsNonLive<R | AgentRuntime | Places | ScriptedModel | World>) => {
  it.effect("writes inside the workspace without asking, even in new directories", () =>
    Effect.gen(function* () {
      const { directory } = yield* Places
      const file = join(directory, "new", "deep", "file.txt")
      assert.strictEqual((yield* say(yield* newSession("workspace"), `write ${file}`)).text, "wrote")
      assert.isTrue(existsSync(file))
    })
  )

  it.effect("asks before a write through a link that leads out of the workspace", () =>
    Effect.gen(function* () {
      const { directory, root } = yield* Places
      const runtime = yield* AgentRuntime
      mkdirSync(join(root, "outside"))
      symlinkSync(join(root, "outside"), join(directory, "link"))
      const seen = yield* recordEvents
      const runtimeSessionId = yield* newSession("workspace")
      const turn = yield* Effect.forkChild(say(runtimeSessionId, `write ${join(directory, "link", "escaped.txt")}`))
      const { promptId, text } = yield* awaitEvent(seen, prompting)
      assert.include(text, "escaped.txt")
      yield* runtime.reply({ runtimeSessionId, promptId, reply: { kind: "permission", reply: "reject" } })
      assert.strictEqual((yield* Fiber.join(turn)).stopReason, "refused")
      assert.isFalse(existsSync(join(root, "outside", "escaped.txt")))
    })
  )

  it.effect("counts a subagent's tokens and reports its work as its parent's", () =>
    Effect.gen(function* () {
      const model = yield* ScriptedModel
      const runtime = yield* AgentRuntime
      const seen = yield* recordEvents
      const before = (yield* model.calls).length
      const id = yield* newSession("all")
      const ids = newIds()
      const outcome = yield* say(id, "delegate", ids)
      assert.strictEqual(outcome.text, "delegated")
      const asked = (yield* model.calls).slice(before).reduce((sum, call) => sum + call.usage.inputTokens, 0)
      assert.strictEqual(outcome.tokens.input + outcome.tokens.cacheRead, asked)
      assert.deepStrictEqual((yield* runtime.inspect(id)).usage.tokens, outcome.tokens)
      yield* waitUntil(Effect.sync(() => seen.find((event) => event.type === "idle")))
      assert.deepStrictEqual(new Set(seen.map((event) => event.sessionId)), new Set([id]))
      assert.deepStrictEqual(new Set(seen.map((event) => event.causePromptId)), new Set([ids.messageId]))
    })
  )
}
