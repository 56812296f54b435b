/** Real agents over the Agent Client Protocol with a scripted model, in directories of their own, without a network. */
import { mkdirSync, readFileSync } from "node:fs"
import { delimiter, dirname, join } from "node:path"
import { markedProcesses } from "@reprise/process"
import { layerSandbox, type SandboxMode } from "@reprise/sandbox"
import {
  acpAgentSettings,
  type CallRecord,
  openCodeConfig,
  openCodeFolders,
  ScriptedModel,
  type ScriptedModelHandle,
  type ScriptInput
} from "@reprise/scripted-model"
import { Context, Effect, Layer } from "effect"
import { namedAgent } from "../../src/acp/namedAgents.ts"
import { parseCommand } from "../../src/acp/process/command.ts"
import { layerAcp, locateOpenCode } from "../../src/index.ts"
import { modelWorld } from "./modelWorld.ts"
import { Places } from "./Places.ts"
import { commonRules } from "./rules.ts"
import type { Untold } from "./Untold.ts"

const goesOn = { regex: "^Your turn was interrupted" }

const script: ScriptInput = {
  rules: [
    // Some agents join a prompt whose turn was aborted with the next one, into one message.
    { match: { lastUser: { regex: "hold abort[^]*say still here" } }, reply: { text: "still here" } },
    {
      match: { lastUser: goesOn, anyMessage: { regex: "^unauthorized" } },
      reply: { fault: { times: 1000, status: 401, body: { error: "key" } } }
    },
    { match: { lastUser: goesOn }, reply: { text: "released" } },
    { match: { lastUser: "Use the other file." }, reply: { text: "corrected" } },
    ...commonRules,
    // What an agent asks its model for itself: titles, what a user may say next, what is to be remembered.
    { match: { lastUser: { regex: "\\[reprise \\S+ \\d+\\]$", not: true } }, reply: { text: "nothing" } }
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
    /** Of the sandbox. */
    readonly mode: SandboxMode
  }
>()("agent/test/AcpProcesses") {}

interface TestedAgent {
  readonly command: string
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Whether this command line is the agent's own. */
  readonly isAgent: (program: string, firstArgument: string) => boolean
}

const commandLine = (pid: number): readonly [string, string] => {
  try {
    const [program = "", first = ""] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")
    return [program, first]
  } catch {
    return ["", ""]
  }
}

type Agent = (root: string, model: ScriptedModelHandle) => Effect.Effect<TestedAgent>

/** `agent`: given a folder of its own, and the model's base URLs. */
const processes = (agent: Agent, mode: SandboxMode) =>
  Layer.effect(
    AcpProcesses,
    Effect.gen(function* () {
      const { root, stateDirectory } = yield* Places
      const all = markedProcesses(`REPRISE_ACP_STATE=${stateDirectory}`)
      mkdirSync(join(root, "home"), { recursive: true })
      const { command, environment, isAgent } = yield* agent(root, yield* ScriptedModel)
      return AcpProcesses.of({
        all,
        kill: Effect.map(all, (pids) => {
          const agents = pids.filter((pid) => isAgent(...commandLine(pid)))
          if (agents.length === 0) throw new Error(`None of the processes ${pids.join(", ")} is the agent.`)
          for (const pid of agents) process.kill(pid, "SIGKILL")
        }),
        environment,
        command,
        mode
      })
    })
  )

/** A runtime over the world's files: a second one is what another process would be. */
export const acpRuntime = Layer.unwrap(
  Effect.gen(function* () {
    const { root, stateDirectory } = yield* Places
    const { command, environment, mode } = yield* AcpProcesses
    const { port } = new URL((yield* ScriptedModel).url)
    const settings = { write: [], read: [root], deny: [], network: [] }
    const allowed = { write: [], network: [`127.0.0.1:${port}`], environment: [] }
    return layerAcp({ command, stateDirectory, environment, allowed }).pipe(
      Layer.provide(layerSandbox({ mode, gates: true, settings, stateDirectory, environment }))
    )
  })
)

/** Reprise's prompts end with a mark. A call for a title may end with one too, since it quotes the prompt. */
const isPrompted = ({ kind, lastUser }: CallRecord) =>
  kind !== "title" && kind !== "summary" && /\[reprise \S+ \d+\]$/.test(lastUser)

const world = modelWorld(
  Effect.map(AcpProcesses, ({ kill }) => kill),
  isPrompted
)

/** The prompts of Reprise that the newest call shows the model. */
export const promptsSeen = Effect.gen(function* () {
  const last = (yield* (yield* ScriptedModel).calls).findLast(isPrompted)
  const texts = (last?.messages ?? []).flatMap((message) => (message.role === "user" ? [message.text] : []))
  return texts.flatMap((text) => [...text.matchAll(/^(.+)\n+\[reprise \S+ \d+\]$/gm)].map(([, words]) => words))
})

const worldOf = (agent: Agent, mode: SandboxMode = "off") =>
  Layer.merge(world, acpRuntime).pipe(
    Layer.provideMerge(processes(agent, mode)),
    Layer.provideMerge(ScriptedModel.layer({ script })),
    Layer.provideMerge(Places.layer)
  )

const isOpenCode = (program: string, mode: string) => /\/opencode(\.exe)?$/.test(program) && mode === "acp"

const openCode: Agent = (root, { openaiUrl }) =>
  Effect.map(Effect.orDie(locateOpenCode()), (program) => ({
    command: `${program} acp`,
    environment: acpEnvironment(root, openaiUrl),
    isAgent: isOpenCode
  }))

export const acpWorld = worldOf(openCode)
export const sandboxedAcpWorld = worldOf(openCode, "required")

const installedAgents = join(import.meta.dirname, "../../../../test/agents/node_modules/.bin")

/** `npm test -- agents --sandbox`: the agents run in it. */
const inSandbox = process.env["REPRISE_TEST_AGENTS_SANDBOX"] === "1"

/** What an agent does not do besides, where it runs in the sandbox: commands in it need no permission. */
export const untoldInSandbox: ReadonlyArray<Untold> = inSandbox ? ["permissions"] : []

/** The command of an agent of `test/agents`, which `npm test -- agents` installs; the program first. */
const installedCommand = (name: string): readonly [string, ...ReadonlyArray<string>] => {
  const { args, program } = parseCommand(namedAgent(name)?.command ?? name)
  return [join(installedAgents, program), ...args]
}

/** An installed agent with what is set for it. */
export const installedAgent = (name: string, settings: Readonly<Record<string, string>>): TestedAgent => {
  const [path, ...args] = installedCommand(name)
  return {
    command: [path, ...args].join(" "),
    // Their scripts run on the Node that is found first; the tests' own is recent enough for all.
    environment: { PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter), ...settings },
    isAgent: (_, script) => script === path
  }
}

export const namedAgentWorld = (name: string) =>
  worldOf(
    (root, model) => Effect.sync(() => installedAgent(name, acpAgentSettings(name, join(root, "home"), model))),
    inSandbox ? "required" : "off"
  )
