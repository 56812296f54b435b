/** A real OpenCode over the Agent Client Protocol with a scripted model, in directories of its own, without a network. */
import { mkdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { markedProcesses } from "@reprise/process"
import { openCodeConfig, openCodeFolders, ScriptedModel, type ScriptInput } from "@reprise/scripted-model"
import { Context, Effect, Layer } from "effect"
import { layerAcp, locateOpenCode } from "../../src/index.ts"
import { modelWorld } from "./modelWorld.ts"
import { Places } from "./Places.ts"
import { commonRules } from "./rules.ts"

const goesOn = { regex: "^Your turn was interrupted" }

const script: ScriptInput = {
  rules: [
    {
      match: { lastUser: goesOn, anyMessage: { regex: "^unauthorized" } },
      reply: { fault: { times: 1000, status: 401, body: { error: "key" } } }
    },
    { match: { lastUser: goesOn }, reply: { text: "released" } },
    { match: { lastUser: "Use the other file." }, reply: { text: "corrected" } },
    ...commonRules
  ]
}

/** The environment of an OpenCode that shares nothing with the user's, and calls the model for its agents only. */
export const acpEnvironment = (root: string, baseURL: string) => ({
  PATH: process.env["PATH"],
  HOME: join(root, "home"),
  OPENCODE_CONFIG_CONTENT: JSON.stringify({ ...openCodeConfig(baseURL), agent: { title: { disable: true } } }),
  ...openCodeFolders(root)
})

export class AcpProcesses extends Context.Service<
  AcpProcesses,
  {
    /** Everything that was started for the sessions. */
    readonly all: Effect.Effect<ReadonlyArray<number>>
    /** Kills the agent alone, as the kernel would: not its guard, not its tools. */
    readonly kill: Effect.Effect<void>
    readonly environment: Readonly<Record<string, string | undefined>>
    readonly command: string
  }
>()("agent/test/AcpProcesses") {}

const isAgent = (pid: number): boolean => {
  try {
    const [program = "", mode] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")
    return /\/opencode(\.exe)?$/.test(program) && mode === "acp"
  } catch {
    return false
  }
}

const processes = Layer.effect(
  AcpProcesses,
  Effect.gen(function* () {
    const { root, stateDirectory } = yield* Places
    const { openaiUrl } = yield* ScriptedModel
    const all = markedProcesses(`REPRISE_ACP_STATE=${stateDirectory}`)
    mkdirSync(join(root, "home"), { recursive: true })
    return AcpProcesses.of({
      all,
      kill: Effect.map(all, (pids) => {
        for (const pid of pids.filter(isAgent)) process.kill(pid, "SIGKILL")
      }),
      environment: acpEnvironment(root, openaiUrl),
      command: `${yield* Effect.orDie(locateOpenCode())} acp`
    })
  })
)

/** A runtime over the world's files: a second one is what another process would be. */
export const acpRuntime = Layer.unwrap(
  Effect.gen(function* () {
    const { stateDirectory } = yield* Places
    const { command, environment } = yield* AcpProcesses
    return layerAcp({ command, stateDirectory, environment })
  })
)

const world = modelWorld(Effect.map(AcpProcesses, ({ kill }) => kill))

export const acpWorld = Layer.merge(world, acpRuntime).pipe(
  Layer.provideMerge(processes),
  Layer.provideMerge(ScriptedModel.layer({ script })),
  Layer.provideMerge(Places.layer)
)
