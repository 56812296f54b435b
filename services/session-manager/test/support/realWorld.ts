/** A real nats-server and a real OpenCode with a scripted model, in directories of their own, without a network. */
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ActorConfig, JetStreamBroker, Messenger } from "@reprise/actor"
import { AgentRuntimes, layerOpenCode, type OpenCodeRuntimeOptions, OpenCodeServer } from "@reprise/agent"
import { ensureStreams, Nats } from "@reprise/nats"
import { Host } from "@reprise/protocol"
import { openCodeSettings, ScriptedModel, type ScriptInput } from "@reprise/scripted-model"
import { Broker, FaultyProxy, localBroker, makeFaultyProxy } from "@reprise/testing"
import { Context, Effect, Layer, Option, Redacted } from "effect"

export const host = Host.make("here")

/** Temporary directories of one test file; `directory` is a git repository. */
export class TestDirectories extends Context.Service<
  TestDirectories,
  { readonly root: string; readonly directory: string }
>()("session-manager/test/TestDirectories") {
  static readonly layer = Layer.effect(
    TestDirectories,
    Effect.acquireRelease(
      Effect.sync(() => {
        const root = mkdtempSync(join(tmpdir(), "reprise-sessions-"))
        const directory = join(root, "work")
        for (const path of [directory, join(root, "home")]) mkdirSync(path)
        execFileSync("git", ["init", "-q", "-b", "main"], { cwd: directory })
        return { root, directory }
      }),
      ({ root }) => Effect.sync(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }))
    )
  )
}

const openCodeServer = Layer.unwrap(
  Effect.gen(function* () {
    const { root } = yield* TestDirectories
    const { openaiUrl } = yield* ScriptedModel
    const environment = {
      PATH: process.env["PATH"],
      HOME: join(root, "home"),
      ...openCodeSettings(join(root, "opencode"), openaiUrl)
    }
    return OpenCodeServer.layer({ stateDirectory: join(root, "state"), environment, warm: true })
  })
)

export const jetStream = Layer.unwrap(
  Effect.map(Broker, ({ url }) =>
    JetStreamBroker.layer.pipe(
      Layer.provide(Layer.effectDiscard(ensureStreams("t", { storageBytes: 256 * 1024 ** 2 }))),
      Layer.provide(Nats.layer({ url, name: "session-manager-test" }))
    )
  )
)

export const settings = ActorConfig.layer({ prefix: "t", host })

/** What a session-manager needs; the test starts the session-manager itself. */
export const realWorld = (script: ScriptInput) =>
  Layer.mergeAll(AgentRuntimes.layerSingle, Messenger.layer).pipe(
    Layer.provideMerge(layerOpenCode({ pollMs: 250 })),
    Layer.provideMerge(openCodeServer),
    Layer.provideMerge(jetStream),
    Layer.provideMerge(settings),
    Layer.provideMerge(ScriptedModel.layer({ script })),
    Layer.provideMerge(localBroker),
    Layer.provideMerge(TestDirectories.layer)
  )

const proxy = Layer.effect(
  FaultyProxy,
  Effect.gen(function* () {
    const { connection } = yield* OpenCodeServer
    return yield* makeFaultyProxy((yield* connection).url)
  })
)

/** The session-manager's way to OpenCode, through the proxy. */
const throughProxy = (options: OpenCodeRuntimeOptions) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { url } = yield* FaultyProxy
      const { password } = yield* (yield* OpenCodeServer).connection
      return layerOpenCode(options).pipe(Layer.provide(OpenCodeServer.layerConnect({ url, password })))
    })
  )

/**
 * The same, with a proxy between the session-manager and OpenCode. `AgentRuntime` bypasses it, like an attached human.
 */
export const proxiedWorld = (script: ScriptInput, options: OpenCodeRuntimeOptions) =>
  Layer.mergeAll(AgentRuntimes.layerOf(throughProxy(options)), Messenger.layer, layerOpenCode({ pollMs: 250 })).pipe(
    Layer.provideMerge(proxy),
    Layer.provideMerge(openCodeServer),
    Layer.provideMerge(jetStream),
    Layer.provideMerge(settings),
    Layer.provideMerge(ScriptedModel.layer({ script })),
    Layer.provideMerge(localBroker),
    Layer.provideMerge(TestDirectories.layer)
  )

/** Kills the OpenCode server alone, as the kernel would, without its guard and its tools. */
export const killOpenCode = Effect.gen(function* () {
  const { pid } = yield* OpenCodeServer
  const running = yield* pid
  if (Option.isSome(running)) process.kill(running.value, "SIGKILL")
})

/** Deletes the session, as a human can in OpenCode's own interface. */
export const deleteSession = Effect.fnUntraced(function* (runtimeSessionId: string) {
  const { password, url, username } = yield* (yield* OpenCodeServer).connection
  const authorization = `Basic ${Buffer.from(`${username}:${Redacted.value(password)}`).toString("base64")}`
  const answer = yield* Effect.promise(() =>
    fetch(`${url}/session/${runtimeSessionId}`, { method: "DELETE", headers: { authorization } })
  )
  if (!answer.ok) return yield* Effect.die(new Error(`OpenCode deleted nothing: HTTP ${answer.status}`))
})
