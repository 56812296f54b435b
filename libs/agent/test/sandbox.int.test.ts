/** What agents try to get out of the sandbox with, on both runtimes: the table is in `libs/sandbox/src/testing.ts`. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, layer } from "@effect/vitest"
import { findUsability, layerSandbox } from "@reprise/sandbox"
import { canary, cleanUp, escapedFrom, escapes, makeScene, recorded, type Scene } from "@reprise/sandbox/testing"
import { ScriptedModel, type ScriptInput } from "@reprise/scripted-model"
import { Context, Effect, Layer } from "effect"
import { AgentRuntime, layerClaude, layerOpenCode, OpenCodeServer } from "../src/index.ts"
import { claudeEnvironment } from "./contract/claudeWorld.ts"
import { openCodeEnvironment } from "./contract/openCodeWorld.ts"
import { Places } from "./contract/Places.ts"
import { newIds } from "./contract/World.ts"

const usability = await Effect.runPromise(findUsability(process.env))
if (usability._tag === "unusable") process.stdout.write(`sandbox tests: skipped. ${usability.reason}\n`)

class TheScene extends Context.Service<TheScene, Scene>()("agent/test/TheScene") {
  static readonly layer = Layer.effect(
    TheScene,
    Effect.gen(function* () {
      const { root } = yield* Places
      return yield* Effect.acquireRelease(
        Effect.promise(() => makeScene(root)),
        (scene) => Effect.sync(() => cleanUp(scene))
      )
    })
  )
}

/** The model tries everything in one turn. */
const scriptOf = (scene: Scene): ScriptInput => ({
  rules: [
    {
      match: { lastUser: "escape" },
      reply: [
        { bash: "true" },
        ...escapes.map((_, index) => ({ bash: recorded(scene, index) })),
        { text: "tried everything" }
      ]
    },
    {
      match: { lastUser: "edit" },
      reply: [{ write: { path: join(scene.workspace, "edited"), content: "x" } }, { text: "ok" }]
    },
    {
      match: { lastUser: "environment" },
      reply: [{ bash: `env > ${scene.workspace}/out-env` }, { text: "ok" }]
    },
    { match: { kind: ["title", "summary"] }, reply: { text: "housekeeping" } }
  ]
})

const sandbox = Layer.unwrap(
  Effect.map(TheScene, ({ home, stateDirectory }) =>
    layerSandbox({
      mode: "auto",
      gates: true,
      settings: { write: [], read: [], deny: [], network: ["registry.npmjs.org"] },
      stateDirectory,
      environment: { ...process.env, HOME: home }
    })
  )
)

const model = Layer.unwrap(Effect.map(TheScene, (scene) => ScriptedModel.layer({ script: scriptOf(scene) })))

const openCode = layerOpenCode({ pollMs: 250 }).pipe(
  Layer.provide(
    Layer.unwrap(
      Effect.gen(function* () {
        const { root } = yield* Places
        const { stateDirectory } = yield* TheScene
        const { openaiUrl } = yield* ScriptedModel
        const environment = { ...openCodeEnvironment(root, openaiUrl), GITHUB_TOKEN: canary }
        return OpenCodeServer.layer({ stateDirectory, environment })
      })
    )
  )
)

const claude = Layer.unwrap(
  Effect.gen(function* () {
    const { root } = yield* Places
    const { stateDirectory } = yield* TheScene
    const { url } = yield* ScriptedModel
    const environment = { ...claudeEnvironment(root, url), GITHUB_TOKEN: canary, ANTHROPIC_AUTH_TOKEN: canary }
    return layerClaude({ stateDirectory, environment, pollMs: 100 })
  })
)

/** Each suite has a scene of its own. */
const sceneLayer = TheScene.layer.pipe(Layer.provideMerge(Layer.fresh(Places.layer)))

const say = Effect.fnUntraced(function* (text: string, role: "author" | "reviewer" = "author") {
  const { workspace: directory } = yield* TheScene
  const runtime = yield* AgentRuntime
  const runtimeSessionId = yield* runtime.create({ directory, title: "sandbox", permissions: "ask" })
  return yield* runtime.prompt({ runtimeSessionId, directory, promptId: newIds(), text, role, maxTurns: 500 })
})

const suite = <E>(name: string, runtime: Layer.Layer<AgentRuntime, E, Places | TheScene | ScriptedModel>) =>
  describe.skipIf(usability._tag === "unusable")(`commands of ${name}`, () => {
    const all = runtime.pipe(Layer.provide(sandbox), Layer.provideMerge(model), Layer.provideMerge(sceneLayer))
    layer(all, { excludeTestServices: true, timeout: "15 minutes" })((it) => {
      it.effect("run without a question, and see the sandbox's environment", () =>
        Effect.gen(function* () {
          const { workspace } = yield* TheScene
          assert.strictEqual((yield* say("environment")).stopReason, "finished")
          const environment = readFileSync(join(workspace, "out-env"), "utf8")
          assert.match(environment, /^REPRISE_SANDBOX=1$/m)
          assert.notInclude(environment, canary)
          assert.notMatch(environment, /PASSWORD|API_KEY/)
        })
      )

      it.effect("may edit files of the workspace without a question", () =>
        Effect.gen(function* () {
          const { workspace } = yield* TheScene
          assert.strictEqual((yield* say("edit")).stopReason, "finished")
          assert.strictEqual(readFileSync(join(workspace, "edited"), "utf8").trim(), "x")
        })
      )

      it.effect("get out by none of the ways of the table", () =>
        Effect.gen(function* () {
          const scene = yield* TheScene
          assert.strictEqual((yield* say("escape")).text, "tried everything")
          assert.deepStrictEqual(escapedFrom(scene), [])
        })
      )
    })
  })

suite("OpenCode", openCode)
suite("Claude", claude)
