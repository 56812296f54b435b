// @module-tag long
/** An answer that is far too long is kept by OpenCode itself only with its beginning and its end. */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { startScriptedModel } from "@reprise/scripted-model"
import { Context, Effect, Layer } from "effect"
import { boundedText, longestBlock, longestPart } from "../src/boundedMessages.ts"
import { AgentRuntime, layerOpenCode, OpenCodeServer, promptIds } from "../src/index.ts"
import { openCodeEnvironment } from "./contract/openCodeWorld.ts"
import { Places } from "./contract/Places.ts"
import { recordEvents, textOf } from "./contract/World.ts"

const long = `begin ${"x".repeat(longestPart)} end`

describe("an answer of more than four million characters", () => {
  it.live("is shortened in its session, the turn completes with what is left, and nobody is told of new work", () =>
    Effect.gen(function* () {
      const { directory, root, stateDirectory } = yield* Places
      const model = yield* startScriptedModel({
        script: {
          rules: [
            {
              match: { lastUser: "write much" },
              // Counted as it is, OpenCode would summarize the conversation at once.
              reply: { text: long, chunkChars: 65_536, usage: { inputTokens: 10, outputTokens: 10 } }
            }
          ]
        }
      })
      mkdirSync(join(root, "home"), { recursive: true })
      const options = { stateDirectory, environment: openCodeEnvironment(root, model.openaiUrl) }
      const context = yield* Layer.build(layerOpenCode().pipe(Layer.provideMerge(OpenCodeServer.layer(options))))
      const runtime = Context.get(context, AgentRuntime)
      const runtimeSessionId = yield* runtime.create({ directory, title: "long", permissions: "all" })
      const promptId = promptIds(Date.now(), "long", 0)
      const { text } = yield* runtime.prompt({ runtimeSessionId, directory, promptId, text: "write much" })
      // Not compared by a matcher, which would print megabytes.
      assert.isTrue(text === boundedText(long))
      assert.isAtMost(text.length, longestBlock)

      const seen = yield* Effect.provideService(recordEvents, AgentRuntime, runtime)
      const { state } = yield* runtime.inspect(runtimeSessionId)
      assert.strictEqual(state._tag, "idle")
      const answer = (yield* runtime.history(runtimeSessionId)).at(-1)
      assert.isTrue(answer !== undefined && textOf(answer) === text)
      assert.deepStrictEqual(
        seen.filter(({ type }) => type === "working"),
        []
      )
    }).pipe(Effect.scoped, Effect.provide(Places.layer))
  )
})
