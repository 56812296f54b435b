/**
 * Programs that an agent's runtime starts by itself, outside of the sandbox, in a tree that its agent writes: none of them runs
 * what the agent wrote (docs/security.md#programs-outside-of-the-sandbox).
 */
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, layer } from "@effect/vitest"
import { layerSandbox } from "@reprise/sandbox"
import { canSandbox, type Scene, sceneIn } from "@reprise/sandbox/testing"
import { ScriptedModel, type ScriptInput } from "@reprise/scripted-model"
import { lacksAgent } from "@reprise/testing"
import { Context, Effect, Layer } from "effect"
import { AgentRuntime, layerClaude, layerOpenCode, OpenCodeServer } from "../src/index.ts"
import { claudeEnvironment } from "./contract/claudeWorld.ts"
import { openCodeEnvironment } from "./contract/openCodeWorld.ts"
import { Places } from "./contract/Places.ts"
import { newIds } from "./contract/World.ts"

const sandboxed = await canSandbox()

class TheScene extends Context.Service<TheScene, Scene>()("agent/test/OwnPrograms") {
  static readonly layer = Layer.effect(
    TheScene,
    Places.use(({ root }) => sceneIn(root))
  )
}

/** What ran outside leaves a file here. */
const ranIn = ({ home }: Scene, what: string) => join(home, `ran-${what}`)

const author = "GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a"

/** A repository that has git run a program, in each of the ways in which a status does. */
const makeNested = (scene: Scene) =>
  [
    `export ${author}; mkdir -p nested && cd nested && git init -q . && echo '* filter=x' > .gitattributes && echo one > file`,
    `git add . && git commit -q -m x && echo two > file`,
    `git config core.fsmonitor 'touch ${ranIn(scene, "monitor")}; false'`,
    `git config filter.x.clean 'touch ${ranIn(scene, "filter")}; cat'`
  ].join("; ")

const formatter = (scene: Scene) =>
  `mkdir -p vendor/bin node_modules/.bin; for at in vendor/bin/pint node_modules/.bin/prettier node_modules/.bin/git; do printf '#!/bin/sh\\ntouch ${ranIn(scene, "formatter")}\\n' > $at; chmod +x $at; done; echo '{"require-dev":{"laravel/pint":"1"}}' > composer.json; echo '{"devDependencies":{"prettier":"3"}}' > package.json`

const scriptOf = (scene: Scene): ScriptInput => ({
  rules: [
    {
      match: { lastUser: "nest" },
      // Each step of the model is a moment at which OpenCode would look at the tree.
      reply: [
        { bash: makeNested(scene) },
        { bash: "true" },
        { bash: "rm -rf nested" },
        { bash: "true" },
        { text: "nested" }
      ]
    },
    {
      match: { lastUser: "format" },
      reply: [
        { bash: formatter(scene) },
        { write: { path: join(scene.workspace, "page.php"), content: "<?php echo 1;\n" } },
        { write: { path: join(scene.workspace, "page.ts"), content: "const a = 1\n" } },
        { bash: "true" },
        { text: "formatted" }
      ]
    },
    { match: { kind: ["title", "summary"] }, reply: { text: "housekeeping" } }
  ]
})

const sandbox = Layer.unwrap(
  Effect.map(TheScene, ({ home, stateDirectory, workspace }) =>
    layerSandbox({
      mode: "required",
      gates: true,
      settings: { write: [], read: [], deny: [], network: [] },
      stateDirectory,
      // As npx and npm scripts set it.
      environment: { ...process.env, HOME: home, PATH: `${workspace}/node_modules/.bin:${process.env["PATH"]}` }
    })
  )
)

const model = Layer.unwrap(Effect.map(TheScene, (scene) => ScriptedModel.layer({ script: scriptOf(scene) })))

/** The user's own settings switch on what OpenCode can start by itself. */
const withPrograms = (environment: Record<string, string | undefined>) => ({
  ...environment,
  OPENCODE_CONFIG_CONTENT: JSON.stringify({
    ...JSON.parse(environment["OPENCODE_CONFIG_CONTENT"] ?? "{}"),
    snapshot: true,
    formatter: true,
    lsp: true
  })
})

const openCode = layerOpenCode({ pollMs: 250 }).pipe(
  Layer.provide(
    Layer.unwrap(
      Effect.gen(function* () {
        const { root } = yield* Places
        const { stateDirectory } = yield* TheScene
        const { openaiUrl } = yield* ScriptedModel
        return OpenCodeServer.layer({ stateDirectory, environment: withPrograms(openCodeEnvironment(root, openaiUrl)) })
      })
    )
  )
)

const claude = Layer.unwrap(
  Effect.gen(function* () {
    const { root } = yield* Places
    const { stateDirectory } = yield* TheScene
    const { url } = yield* ScriptedModel
    return layerClaude({ stateDirectory, environment: claudeEnvironment(root, url), pollMs: 100 })
  })
)

const say = Effect.fnUntraced(function* (text: string) {
  const { workspace: directory } = yield* TheScene
  const runtime = yield* AgentRuntime
  const runtimeSessionId = yield* runtime.create({ directory, title: "programs", permissions: "ask" })
  return yield* runtime.prompt({ runtimeSessionId, directory, promptId: newIds(), text, role: "author" })
})

const suite = <E>(name: string, runtime: Layer.Layer<AgentRuntime, E, Places | TheScene | ScriptedModel>) =>
  describe.skipIf(!sandboxed || lacksAgent(name))(`what ${name} starts by itself`, () => {
    const sceneLayer = TheScene.layer.pipe(Layer.provideMerge(Layer.fresh(Places.layer)))
    const all = runtime.pipe(Layer.provide(sandbox), Layer.provideMerge(model), Layer.provideMerge(sceneLayer))
    layer(all, { excludeTestServices: true, timeout: "10 minutes" })((it) => {
      it.effect("runs nothing that a repository inside of the tree names, which is gone before the turn ends", () =>
        Effect.gen(function* () {
          const scene = yield* TheScene
          assert.strictEqual((yield* say("nest")).stopReason, "finished")
          for (const what of ["monitor", "filter"]) assert.isFalse(existsSync(ranIn(scene, what)), what)
        })
      )

      it.effect("is not a formatter or git of the tree", () =>
        Effect.gen(function* () {
          const scene = yield* TheScene
          mkdirSync(join(scene.workspace, "src"), { recursive: true })
          writeFileSync(join(scene.workspace, "src", "page.php"), "<?php\n")
          assert.strictEqual((yield* say("format")).stopReason, "finished")
          assert.isTrue(existsSync(join(scene.workspace, "page.php")))
          assert.isFalse(existsSync(ranIn(scene, "formatter")))
        })
      )
    })
  })

suite("OpenCode", openCode)
suite("Claude", claude)
