// @module-tag long
/** What agents try to get out of the sandbox with, on both runtimes: the table is in `libs/sandbox/src/testing/index.ts`. */
import { existsSync, mkdirSync, readFileSync, realpathSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, layer } from "@effect/vitest"
import { layerSandbox, Sandbox } from "@reprise/sandbox"
import { batches, canary, canSandbox, escapedFrom, type Scene, sceneIn } from "@reprise/sandbox/testing"
import { ScriptedModel, type ScriptInput } from "@reprise/scripted-model"
import { lacksAgent } from "@reprise/testing"
import { Context, Effect, Fiber, Layer, Stream } from "effect"
import { AgentRuntime, layerClaude, layerOpenCode, OpenCodeServer } from "../src/index.ts"
import { claudeEnvironment } from "./contract/claudeWorld.ts"
import { openCodeEnvironment } from "./contract/openCodeWorld.ts"
import { Places } from "./contract/Places.ts"
import { newIds, waitUntil } from "./contract/World.ts"

const sandboxed = await canSandbox()

class TheScene extends Context.Service<TheScene, Scene>()("agent/test/TheScene") {
  static readonly layer = Layer.effect(
    TheScene,
    Places.use(({ root }) => sceneIn(root))
  )
}

/** What file tools must not read without a question, though it lies in the workspace. */
const lookedAt = ({ workspace }: Scene) =>
  // As an agent writes it: beside what the link leads to, for the kernel.
  ["out-tool-link", ".reprise/endpoint.json", "out-state-link", "out-way/../.ssh/id_ed25519"].map(
    (name) => `${workspace}/${name}`
  )

const beside = ({ workspace }: Scene) => `${workspace}/out-way/../written-beside`

const makeLinks = ({ home, stateDirectory, workspace }: Scene) => {
  symlinkSync(join(home, ".ssh", "id_ed25519"), join(workspace, "out-tool-link"))
  symlinkSync(join(stateDirectory, "endpoint.json"), join(workspace, "out-state-link"))
  symlinkSync(join(home, ".ssh"), join(workspace, "out-way"))
}

/** A folder of the user in which nothing is protected, one for each reply. */
const dataOf = ({ home }: Scene, reply: string) => join(realpathSync(home), `data-${reply}`)

const savingCommand = (scene: Scene, reply: string) => `echo kept > ${dataOf(scene, reply)}/saved`

const otherWorkspace = ({ home }: Scene) => join(realpathSync(home), "of-another")

/** The model tries everything in one turn. */
const scriptOf = (scene: Scene): ScriptInput => ({
  rules: [
    {
      match: { lastUser: "escape" },
      reply: [{ bash: "true" }, ...batches(scene).map((bash) => ({ bash })), { text: "tried everything" }]
    },
    {
      match: { lastUser: "edit" },
      reply: [{ write: { path: join(scene.workspace, "edited"), content: "x" } }, { text: "ok" }]
    },
    {
      match: { lastUser: "beside" },
      reply: [{ write: { path: beside(scene), content: "x" } }, { text: "ok" }]
    },
    {
      match: { lastUser: "reach" },
      reply: [
        {
          bash: `curl -sS -m 30 --noproxy '' http://localhost:${scene.port}/ http://localhost:${scene.port}/ > out-reached 2>&1`
        },
        { text: "reached" }
      ]
    },
    ...(["once", "always", "reject"] as const).map((reply) => ({
      match: { lastUser: `save ${reply}` },
      reply: [{ bash: savingCommand(scene, reply) }, { bash: savingCommand(scene, reply) }, { text: "saved" }] as const
    })),
    {
      match: { lastUser: "peek" },
      reply: [
        {
          bash: `curl -sS -m 30 --noproxy '' http://localhost:${scene.port}/; touch ${realpathSync(scene.home)}/.bashrc`
        },
        { text: "peeked" }
      ]
    },
    {
      match: { lastUser: "intrude" },
      reply: [
        {
          toolCalls: [
            {
              tool: "bash",
              args: {
                command: `echo x > ${scene.workspace}/began; echo x > intruded`,
                workdir: otherWorkspace(scene),
                description: "intrudes"
              }
            }
          ]
        },
        { text: "intruded" }
      ]
    },
    {
      match: { lastUser: "linger" },
      reply: [{ bash: `echo '# ${canary}' > reprise.local.toml; sleep 3600` }, { text: "lingered" }]
    },
    {
      match: { lastUser: "environment" },
      reply: [{ bash: `env > ${scene.workspace}/out-env` }, { text: "ok" }]
    },
    ...lookedAt(scene).map((path, index) => ({
      match: { lastUser: `look ${index}` },
      reply: [{ read: path }, { text: "looked" }] as const
    })),
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
  describe.skipIf(!sandboxed || lacksAgent(name))(`commands of ${name}`, () => {
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

      it.effect("have no help from file tools, which read neither through links nor Reprise's state", () =>
        Effect.gen(function* () {
          const scene = yield* TheScene
          const runtime = yield* AgentRuntime
          const directory = scene.workspace
          makeLinks(scene)
          for (const index of lookedAt(scene).keys()) {
            const runtimeSessionId = yield* runtime.create({ directory, title: "look", permissions: "ask" })
            const prompt = {
              runtimeSessionId,
              directory,
              promptId: newIds(),
              text: `look ${index}`,
              role: "author" as const
            }
            const rejected = waitUntil(
              Effect.map(runtime.pendingPrompts(directory), (all) =>
                all.find(({ sessionId }) => sessionId === runtimeSessionId)
              )
            ).pipe(
              Effect.flatMap(({ promptId }) =>
                runtime.reply({ runtimeSessionId, promptId, reply: { kind: "permission", reply: "reject" } })
              ),
              Effect.andThen(Effect.never)
            )
            yield* Effect.raceFirst(runtime.prompt(prompt), rejected)
            assert.notInclude(JSON.stringify(yield* runtime.history(runtimeSessionId)), canary)
          }
        })
      )

      it.effect("have no help from file tools, which write beside no link either", () =>
        Effect.gen(function* () {
          const { home } = yield* TheScene
          yield* say("beside")
          assert.isFalse(existsSync(join(home, "written-beside")))
        })
      )

      it.effect.each(["once", "reject"] as const)(
        "wait while a human is asked once about a name that they may not reach: %s",
        (reply) =>
          Effect.gen(function* () {
            const { workspace: directory } = yield* TheScene
            const runtime = yield* AgentRuntime
            const runtimeSessionId = yield* runtime.create({ directory, title: "reach", permissions: "ask" })
            const asked: Array<string> = []
            const answer = waitUntil(
              Effect.map(runtime.pendingPrompts(directory), (all) =>
                all.find(({ sessionId }) => sessionId === runtimeSessionId)
              )
            ).pipe(
              Effect.flatMap(({ promptId, text }) => {
                asked.push(text)
                return runtime.reply({ runtimeSessionId, promptId, reply: { kind: "permission", reply } })
              }),
              Effect.andThen(Effect.never)
            )
            const promptId = newIds()
            const turn = runtime.prompt({ runtimeSessionId, directory, promptId, text: "reach", role: "author" })
            const { stopReason } = yield* Effect.raceFirst(turn, answer)
            assert.strictEqual(stopReason, "finished", "a refused name does not end the turn")
            assert.deepStrictEqual(asked, ["network: localhost"])
            const reached = readFileSync(join(directory, "out-reached"), "utf8")
            assert.include(reached, reply === "once" ? canary : "may not be reached")
            assert.deepStrictEqual(yield* runtime.pendingPrompts(directory), [])
          })
      )

      it.effect.each(["once", "always", "reject"] as const)(
        "wait while a human is asked once about a file that they may not write, and the agent reads the answer: %s",
        (reply) =>
          Effect.gen(function* () {
            const scene = yield* TheScene
            const { workspace: directory } = scene
            const data = dataOf(scene, reply)
            mkdirSync(data, { recursive: true })
            const runtime = yield* AgentRuntime
            const runtimeSessionId = yield* runtime.create({ directory, title: "save", permissions: "ask" })
            const asked: Array<string> = []
            const answer = waitUntil(
              Effect.map(runtime.pendingPrompts(directory), (all) =>
                all.find(({ sessionId }) => sessionId === runtimeSessionId)
              )
            ).pipe(
              Effect.flatMap(({ options, promptId, text }) => {
                asked.push(text, ...options.map(({ name }) => name))
                return runtime.reply({ runtimeSessionId, promptId, reply: { kind: "permission", reply } })
              }),
              Effect.andThen(Effect.never)
            )
            const prompt = { runtimeSessionId, directory, promptId: newIds(), text: `save ${reply}` }
            const turn = runtime.prompt({ ...prompt, role: "author" })
            const { stopReason, text } = yield* Effect.raceFirst(turn, answer)
            assert.deepStrictEqual([stopReason, text], ["finished", "saved"])
            assert.deepStrictEqual(asked, [`write: ${data}/saved`, "once", "always", "reject"])
            assert.strictEqual(existsSync(join(data, "saved")), reply !== "reject")
            const history = JSON.stringify(yield* runtime.history(runtimeSessionId))
            assert.include(
              history,
              reply === "reject" ? "may not be written from the sandbox" : "Run the command again"
            )
          })
      )

      it.effect("of a reviewer are asked about nothing, and what the sandbox refused is told", () =>
        Effect.gen(function* () {
          const { home } = yield* TheScene
          const runtime = yield* AgentRuntime
          const reading = yield* runtime.events.pipe(
            Stream.filter((event) => event.type === "refused" || event.type === "prompting"),
            Stream.take(2),
            Stream.runCollect,
            Effect.forkScoped({ startImmediately: true })
          )
          assert.strictEqual((yield* say("peek", "reviewer")).text, "peeked")
          const told = [...(yield* Fiber.join(reading))].map((event) =>
            event.type === "refused" ? `${event.sandbox} ${event.text}` : event.type
          )
          assert.deepStrictEqual(told, ["network network: localhost", `write write: ${realpathSync(home)}/.bashrc`])
        })
      )

      it.effect("leave nothing that may not be made when they are killed", () =>
        Effect.gen(function* () {
          const { workspace: directory } = yield* TheScene
          const settings = join(directory, "reprise.local.toml")
          const runtime = yield* AgentRuntime
          const runtimeSessionId = yield* runtime.create({ directory, title: "linger", permissions: "ask" })
          const prompt = { runtimeSessionId, directory, promptId: newIds(), text: "linger", role: "author" as const }
          const turn = yield* Effect.forkScoped(Effect.exit(runtime.prompt(prompt)), { startImmediately: true })
          yield* waitUntil(Effect.sync(() => (existsSync(settings) ? "made" : undefined)))
          yield* runtime.abort(runtimeSessionId)
          yield* Fiber.join(turn)
          assert.isFalse(existsSync(settings))
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

describe.skipIf(!sandboxed)("agents on one OpenCode server", () => {
  const all = openCode.pipe(Layer.provideMerge(sandbox), Layer.provideMerge(model), Layer.provideMerge(sceneLayer))
  layer(all, { excludeTestServices: true, timeout: "5 minutes" })((it) => {
    it.effect("have their own rights in the folder of another agent that is at work", () =>
      Effect.gen(function* () {
        const scene = yield* TheScene
        const { workspace: directory } = scene
        const other = otherWorkspace(scene)
        mkdirSync(other)
        yield* (yield* Sandbox).occupy({ directory: other, role: "author", permissions: "ask" })
        const runtime = yield* AgentRuntime
        const runtimeSessionId = yield* runtime.create({ directory, title: "intrude", permissions: "ask" })
        const answers = waitUntil(Effect.map(runtime.pendingPrompts(directory), (all) => all[0])).pipe(
          Effect.flatMap(({ promptId, text }) =>
            runtime.reply({
              runtimeSessionId,
              promptId,
              reply: { kind: "permission", reply: text.startsWith("write") ? "reject" : "once" }
            })
          ),
          Effect.forever
        )
        const prompt = { runtimeSessionId, directory, promptId: newIds(), text: "intrude", role: "author" as const }
        assert.strictEqual((yield* Effect.raceFirst(runtime.prompt(prompt), answers)).text, "intruded")
        assert.isFalse(existsSync(join(other, "intruded")))
        assert.isTrue(existsSync(join(directory, "began")), "the command was run")
      })
    )
  })
})
