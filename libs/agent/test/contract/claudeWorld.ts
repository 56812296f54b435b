/** A real Claude with a scripted model, in directories of its own, without a network. */
import { mkdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { markedProcesses } from "@reprise/process"
import { claudeSettings, ScriptedModel, type ScriptInput } from "@reprise/scripted-model"
import { Context, Effect, Layer } from "effect"
import { layerClaude } from "../../src/index.ts"
import { modelWorld } from "./modelWorld.ts"
import { Places } from "./Places.ts"
import { captured, commonRules } from "./rules.ts"

const script: ScriptInput = {
  rules: [
    ...commonRules,
    { ...captured("fetch", "url"), reply: [{ toolCalls: [fetch()] }, { text: "fetched" }] },
    { match: { lastUser: { regex: "^delegate" } }, reply: { toolCalls: [delegate()] } },
    // A subagent's calls carry its parent's session, so that the parent's turn has to be found again.
    { match: { lastUser: { regex: "^delegate" }, afterTool: true }, reply: { text: "delegated" } },
    { match: { lastUser: "choose" }, reply: [{ toolCalls: [choice()] }, { text: "chosen" }] },
    { match: { lastUser: "too long" }, reply: { fault: { times: 1000, status: 400, body: tooLong() } } },
    { match: { lastUser: "endless" }, reply: [{ bash: "true" }, { bash: "true" }, { bash: "true" }, { text: "late" }] },
    { match: { lastUser: "Your turn was interrupted" }, reply: { text: "went on" } },
    { match: { kind: ["title", "summary"] }, reply: { text: "housekeeping" } }
  ]
}

function choice() {
  const options = ["red", "green"].map((label) => ({ label, description: "" }))
  const questions = [{ question: "Which colour?", header: "Colour", multiSelect: false, options }]
  return { tool: "AskUserQuestion", args: { questions } }
}

function fetch() {
  return { tool: "WebFetch", args: { url: "{{url}}", prompt: "read it" } }
}

function delegate() {
  return { tool: "Agent", args: { description: "part", prompt: "run echo part", subagent_type: "general-purpose" } }
}

function tooLong() {
  return {
    type: "error",
    error: { type: "invalid_request_error", message: "prompt is too long: 9 tokens > 8 maximum" }
  }
}

/** The environment of a Claude that shares nothing with the user's. */
export const claudeEnvironment = (root: string, url: string) => ({
  PATH: process.env["PATH"],
  HOME: join(root, "home"),
  ...claudeSettings(root, url)
})

export class ClaudeProcesses extends Context.Service<
  ClaudeProcesses,
  {
    /** Everything that was started for the sessions. */
    readonly all: Effect.Effect<ReadonlyArray<number>>
    /** Kills Claude alone, as the kernel would: not its guard, not its tools. */
    readonly kill: Effect.Effect<void>
    readonly environment: Readonly<Record<string, string | undefined>>
  }
>()("agent/test/ClaudeProcesses") {}

const isClaude = (pid: number): boolean => {
  try {
    return /\/claude$/.test(readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")[0] ?? "")
  } catch {
    return false
  }
}

const processes = Layer.effect(
  ClaudeProcesses,
  Effect.gen(function* () {
    const { root, stateDirectory } = yield* Places
    const { url } = yield* ScriptedModel
    const all = markedProcesses(`REPRISE_CLAUDE_STATE=${stateDirectory}`)
    mkdirSync(join(root, "home"), { recursive: true })
    return ClaudeProcesses.of({
      all,
      kill: Effect.map(all, (pids) => {
        for (const pid of pids.filter(isClaude)) process.kill(pid, "SIGKILL")
      }),
      environment: claudeEnvironment(root, url)
    })
  })
)

/** A runtime over the world's files: a second one is what another process would be. */
export const claudeRuntime = Layer.unwrap(
  Effect.gen(function* () {
    const { stateDirectory } = yield* Places
    const { environment } = yield* ClaudeProcesses
    return layerClaude({ stateDirectory, environment, pollMs: 100, retryPatienceMs: 10_000 })
  })
)

const world = modelWorld(Effect.map(ClaudeProcesses, ({ kill }) => kill))

export const claudeWorld = Layer.merge(world, claudeRuntime).pipe(
  Layer.provideMerge(processes),
  Layer.provideMerge(ScriptedModel.layer({ script })),
  Layer.provideMerge(Places.layer)
)
