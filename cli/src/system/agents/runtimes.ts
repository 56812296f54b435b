/** The agent runtimes of this host: OpenCode, and Claude if its SDK is installed, which is checked on first use. */
import {
  type AgentAllowance,
  AgentRuntimes,
  agentPackages,
  allTrusted,
  type ClaudeNotInstalled,
  installAgent,
  layerAcp,
  layerClaude,
  layerOpenCode,
  locateAcp,
  locateClaude,
  locateOpenCode,
  type OpenCodeNotFound,
  OpenCodeNotPermitted,
  OpenCodeServer,
  type OpenCodeUnavailable,
  type ProjectSettings
} from "@reprise/agent"
import { commandOf, parseCommand } from "@reprise/agent/acpCommand"
import type { BuiltInRuntime, RuntimeName } from "@reprise/protocol"
import { Context, Effect, Fiber, Layer, Redacted, Result } from "effect"
import { configuredRuntimes } from "../../config/serviceOptions.ts"
import type { Project } from "../../project/Project.ts"
import { missing } from "../../terminal/CliFailure.ts"
import { say } from "../../terminal/Printer.ts"
import { readYes } from "../../terminal/readLine.ts"
import { projectSettings } from "../../trust/projectSettings.ts"
import { showingStep } from "../../views/live/Display.ts"
import type { SystemOptions } from "../SystemOptions.ts"
import { hostEnvironment } from "./hostEnvironment.ts"
import { limitHeap } from "./memory.ts"
import { heldBackOnly, ruleBook } from "./ruleBook.ts"

/** An OpenCode server that somebody else runs. */
export const openCodeAt = (url: string) =>
  OpenCodeServer.layerConnect({ url, password: Redacted.make(process.env["OPENCODE_SERVER_PASSWORD"] ?? "") })

/** What OpenCode and Claude may read in the trees of a project; a server that somebody else runs is their affair. */
export const settingsFor = ({ project, settings }: SystemOptions, runtime: RuntimeName): ProjectSettings =>
  runtime === "opencode" && settings.opencode.url !== undefined ? allTrusted : projectSettings(project, runtime)

const permitted = (project: Project) =>
  Effect.flatMap(projectSettings(project, "opencode")(project.root), (verdict) =>
    verdict._tag === "trusted" ? Effect.void : Effect.fail(new OpenCodeNotPermitted({ detail: verdict.detail }))
  )

const openCodeServer = ({ openCodeEnvironment, project, settings }: SystemOptions) =>
  settings.opencode.url === undefined
    ? OpenCodeServer.layer({
        stateDirectory: project.directory,
        environment: { ...process.env, ...openCodeEnvironment },
        permit: permitted(project)
      })
    : openCodeAt(settings.opencode.url)

/** The start of the agents' server. It is launched when this is there, and goes on beside everything else. */
export class AgentStart extends Context.Service<
  AgentStart,
  {
    /**
     * Never succeeds; fails when the server cannot be started. One that somebody ends again and again can be: the turn that
     * needs it asks a human.
     */
    readonly failed: Effect.Effect<never, OpenCodeUnavailable>
  }
>()("cli/AgentStart") {}

const notStarted = Layer.succeed(AgentStart, { failed: Effect.never })

const starting = Layer.effect(
  AgentStart,
  Effect.gen(function* () {
    const { connection, launched } = yield* OpenCodeServer
    const start = yield* Effect.forkScoped(showingStep("Starting OpenCode")(connection))
    yield* launched
    return {
      failed: Fiber.join(start).pipe(
        Effect.catchTag("OpenCodeGaveUp", () => Effect.void),
        Effect.andThen(Effect.never)
      )
    }
  })
)

/** Whether the settings name the runtime for a role. Of agents by their command only these are ever started. */
export const isConfigured = ({ settings }: Pick<SystemOptions, "settings">, runtime: RuntimeName): boolean =>
  configuredRuntimes(settings).includes(runtime)

/** What agents may do inside the sandbox for themselves. */
export const allowanceOf = ({ sandbox }: SystemOptions["settings"]): AgentAllowance => ({
  write: sandbox.agentWrite,
  network: sandbox.agentNetwork,
  environment: sandbox.agentEnvironment
})

/** A configured agent that is one by its command. No other command is ever started, whatever a message says. */
export const configuredAcp = (options: SystemOptions, runtime: RuntimeName, command: string, visiting = false) =>
  layerAcp({
    command,
    stateDirectory: options.project.directory,
    visiting,
    environment: { ...process.env, ...options.openCodeEnvironment },
    projectSettings: settingsFor(options, runtime),
    allowed: allowanceOf(options.settings),
    rules: visiting ? heldBackOnly(options.settings) : ruleBook(options)
  })

const hostRuntimes = (options: SystemOptions) => {
  const rules = ruleBook(options)
  const stateDirectory = options.project.directory
  const openCode = layerOpenCode({ projectSettings: settingsFor(options, "opencode"), rules })
  const claude = layerClaude({ stateDirectory, projectSettings: settingsFor(options, "claude"), rules })
  const configured = configuredRuntimes(options.settings)
  const usesOpenCode = configured.includes("opencode")
  const start = options.lazyAgents !== true && usesOpenCode ? starting : notStarted
  const acp = configured.flatMap((runtime) => {
    const command = commandOf(runtime)
    return command === undefined ? [] : [configuredAcp(options, runtime, command)]
  })
  return Layer.merge(AgentRuntimes.layerOf(openCode, claude, ...acp), start).pipe(
    Layer.provide(openCodeServer(options)),
    Layer.provide(Layer.effectDiscard(limitHeap))
  )
}

/** The runtimes of this host. Their servers may still be starting: `AgentStart` says when one cannot. */
export const runtimes = (options: SystemOptions) =>
  options.runtimes === undefined ? hostRuntimes(options) : Layer.merge(options.runtimes, notStarted)

/** Fails if the agent's program is not installed. */
const find = (runtime: BuiltInRuntime): Effect.Effect<void, ClaudeNotInstalled | OpenCodeNotFound> =>
  Effect.asVoid<unknown, ClaudeNotInstalled | OpenCodeNotFound, never>(
    runtime === "claude" ? locateClaude() : locateOpenCode()
  )

/** The variables that name the program to use. */
const programVariables = { opencode: "REPRISE_OPENCODE", claude: "REPRISE_CLAUDE" } as const

const install = Effect.fnUntraced(function* (runtime: BuiltInRuntime) {
  const { name, version } = agentPackages[runtime]
  say(`Installing ${name} ${version} …`)
  yield* installAgent(runtime, hostEnvironment()).pipe(
    Effect.mapError((error) =>
      missing("runtime-missing", error.message, `Try 'npm install -g ${name}@${version}'.`, error)
    )
  )
})

/** Fails with exit code 3 if the program of a command is not installed. Nothing of it is started. */
const requireProgram = Effect.fnUntraced(function* (command: string) {
  if ((yield* locateAcp(command, process.env)) !== undefined) return
  const { program } = parseCommand(command)
  return yield* missing(
    "runtime-missing",
    `There is no program ${program}, which the settings name as a runtime.`,
    "Install it, or correct the setting."
  )
})

/**
 * Fails with exit code 3 if the agent is not installed, and a human at the terminal does not want it installed now. An
 * OpenCode server that somebody else runs needs nothing here.
 */
export const requireRuntime = Effect.fnUntraced(function* (
  runtime: RuntimeName,
  { openCodeUrl, terminal }: { readonly openCodeUrl: string | undefined; readonly terminal: boolean }
) {
  if (runtime !== "opencode" && runtime !== "claude") return yield* requireProgram(commandOf(runtime) ?? "")
  if (runtime === "opencode" && openCodeUrl !== undefined) return
  const found = yield* Effect.result(find(runtime))
  if (Result.isSuccess(found)) return
  const { megabytes, name, version } = agentPackages[runtime]
  const byHand =
    runtime === "claude"
      ? "In a terminal, a run that needs it offers to install it. REPRISE_CLAUDE names another program."
      : `Install it with 'npm install -g ${name}@${version}'.`
  const notInstalled = missing("runtime-missing", found.failure.message, byHand)
  if (!terminal || (process.env[programVariables[runtime]] ?? "") !== "") return yield* notInstalled
  say(`This run needs ${name} ${version} (about ${megabytes} MB), which is not installed.`)
  if (!(yield* readYes("Install it for you, with npm? [y/N] "))) return yield* notInstalled
  yield* install(runtime)
})
