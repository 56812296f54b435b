/** A real nats-server and a real Claude with a scripted model, in directories of their own, without a network. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Messenger } from "@reprise/actor"
import { AgentRuntimes, type ClaudeRuntimeOptions, layerClaude } from "@reprise/agent"
import { claudeSettings, ScriptedModel, type ScriptInput } from "@reprise/scripted-model"
import { localBroker } from "@reprise/testing"
import { Duration, Effect, Layer } from "effect"
import { layerWith } from "../../src/service.ts"
import { jetStream, settings, TestDirectories } from "./realWorld.ts"

/** Shares nothing with the user's Claude. */
const environmentOf = (root: string, url: string) => ({
  PATH: process.env["PATH"],
  HOME: join(root, "home"),
  ...claudeSettings(root, url)
})

const claude = (options: Pick<ClaudeRuntimeOptions, "retryPatienceMs" | "visiting">) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { root } = yield* TestDirectories
      const { url } = yield* ScriptedModel
      const stateDirectory = join(root, "state")
      return layerClaude({ stateDirectory, environment: environmentOf(root, url), pollMs: 100, ...options })
    })
  )

/** A session-manager and its Claude, which stop and restart together. */
export const sessionManager = Layer.suspend(() =>
  Layer.fresh(
    layerWith({ idleGrace: Duration.millis(300), firstWait: Duration.millis(200), longestAnswerChars: 50_000 }).pipe(
      Layer.provide(AgentRuntimes.layerOf(claude({ retryPatienceMs: 500 })))
    )
  )
)

/** What a session-manager needs, and what outlives it. `AgentRuntime` is the view of a human who looks on. */
export const claudeWorld = (script: ScriptInput) =>
  Layer.mergeAll(Messenger.layer, claude({ visiting: true })).pipe(
    Layer.provideMerge(jetStream),
    Layer.provideMerge(settings),
    Layer.provideMerge(ScriptedModel.layer({ script })),
    Layer.provideMerge(localBroker),
    Layer.provideMerge(TestDirectories.layer)
  )

const isClaudeOf = (root: string) => (pid: string) => {
  try {
    const [program = ""] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")
    return /\/claude$/.test(program) && readFileSync(`/proc/${pid}/environ`, "utf8").includes(root)
  } catch {
    // It has ended, or belongs to another user.
    return false
  }
}

/** Kills Claude alone, as the kernel would, without its guard and its tools. */
export const killClaude = Effect.map(TestDirectories, ({ root }) => {
  for (const pid of readdirSync("/proc").filter(isClaudeOf(root))) process.kill(Number(pid), "SIGKILL")
})
