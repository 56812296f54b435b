/** A variant of a model reaches the model, as each runtime says it to its vendor. */
import { assert, describe, layer } from "@effect/vitest"
import { ScriptedModel } from "@reprise/scripted-model"
import { lacksAgent } from "@reprise/testing"
import { Effect, type Layer } from "effect"
import { AgentRuntime } from "../src/index.ts"
import { acpWorld } from "./contract/acpWorld.ts"
import { claudeWorld } from "./contract/claudeWorld.ts"
import { openCodeWorld } from "./contract/openCodeWorld.ts"
import { newIds, newSession, World } from "./contract/World.ts"

const efforts = (text: string) =>
  Effect.gen(function* () {
    const { calls } = yield* ScriptedModel
    return (yield* calls).filter(({ lastUser }) => lastUser.includes(text)).map(({ effort }) => effort)
  })

const ask = Effect.fnUntraced(function* (runtimeSessionId: string, text: string, variant: string) {
  const { directory } = yield* World
  const runtime = yield* AgentRuntime
  return yield* runtime.prompt({ runtimeSessionId, directory, promptId: newIds(), text, variant })
})

const asksWithVariants = <E>(name: string, world: Layer.Layer<AgentRuntime | World | ScriptedModel, E>) =>
  describe.skipIf(lacksAgent(name))(`a variant on ${name}`, () => {
    layer(world, { excludeTestServices: true, timeout: "15 minutes" })((it) => {
      it.effect("is what the model is asked for, prompt by prompt in one session", () =>
        Effect.gen(function* () {
          const id = yield* newSession()
          yield* ask(id, "say little", "low")
          yield* ask(id, "say much", "high")
          assert.deepStrictEqual(yield* efforts("say little"), ["low"])
          assert.deepStrictEqual(yield* efforts("say much"), ["high"])
        })
      )
    })
  })

asksWithVariants("OpenCode", openCodeWorld)
asksWithVariants("Claude", claudeWorld)
asksWithVariants("OpenCode over the Agent Client Protocol", acpWorld)
