import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { acpAgentSettings } from "@reprise/scripted-model"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { AgentRuntime, layerAcp } from "../../src/index.ts"
import { installedAgent, namedAgentWorld, untoldInSandbox } from "../contract/acpWorld.ts"
import { agentRuntimeContract } from "../contract/contract.ts"
import { killContract } from "../contract/killContract.ts"
import { Places } from "../contract/Places.ts"

agentRuntimeContract("gemini", namedAgentWorld("gemini"), [
  "questions",
  "forks in part",
  "waits",
  "attach",
  "fork",
  "models",
  "mending",
  ...untoldInSandbox
])

killContract("gemini", namedAgentWorld("gemini"))

describe("Gemini without a login in its settings", () => {
  it.live("gets the key of the environment over the protocol, as soon as it asks for a login", () =>
    Effect.gen(function* () {
      const { directory, root, stateDirectory } = yield* Places
      const nowhere = { url: "", openaiUrl: "" }
      // With another server than its vendor's it asks for no login.
      const { GOOGLE_GEMINI_BASE_URL: _, ...settings } = acpAgentSettings("gemini", join(root, "home"), nowhere)
      const runtime = Effect.map(
        Layer.build(layerAcp({ ...installedAgent("gemini", settings), stateDirectory })),
        (context) => Context.get(context, AgentRuntime)
      )
      const before = yield* Scope.make()
      const id = yield* (yield* Scope.provide(runtime, before)).create({
        directory,
        title: "login",
        permissions: "ask"
      })
      yield* Scope.close(before, Exit.void)
      // To make a session it needs none.
      assert.deepStrictEqual((yield* (yield* runtime).inspect(id)).state, { _tag: "empty" })
      const { security } = JSON.parse(readFileSync(join(root, "home/.gemini/settings.json"), "utf8"))
      assert.strictEqual(security.auth.selectedType, "gemini-api-key")
    }).pipe(Effect.provide(Places.layer), Effect.scoped)
  )
})
