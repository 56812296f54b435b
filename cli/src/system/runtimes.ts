/** The agent runtimes of this host: OpenCode, and Claude if its SDK is installed, which is checked on first use. */
import {
  AgentRuntimes,
  agentPackages,
  allTrusted,
  type ClaudeNotInstalled,
  installAgent,
  layerClaude,
  layerOpenCode,
  locateClaude,
  locateOpenCode,
  type OpenCodeNotFound,
  OpenCodeNotPermitted,
  OpenCodeServer,
  type ProjectSettings,
  type RuleBook
} from "@reprise/agent"
import type { RuntimeName } from "@reprise/protocol"
import { Effect, Layer, Redacted, Result } from "effect"
import type { Project } from "../project/Project.ts"
import { missing } from "../terminal/CliFailure.ts"
import { say } from "../terminal/Printer.ts"
import { readYes } from "../terminal/readLine.ts"
import { projectSettings } from "../trust/projectSettings.ts"
import { hostEnvironment } from "./hostEnvironment.ts"
import { limitHeap } from "./memory.ts"
import { ruleBook } from "./ruleBook.ts"
import type { SystemOptions } from "./System.ts"

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

const startServer = Layer.effectDiscard(Effect.flatMap(OpenCodeServer, ({ connection }) => connection))

const openCode = (options: SystemOptions, rules: RuleBook) =>
  Layer.provideMerge(
    layerOpenCode({ projectSettings: settingsFor(options, "opencode"), rules }),
    options.lazyAgents !== true && options.settings.runtime === "opencode" ? startServer : Layer.empty
  ).pipe(Layer.provide(openCodeServer(options)))

export const runtimes = (options: SystemOptions) => {
  const rules = ruleBook(options)
  const projectSettings = settingsFor(options, "claude")
  return AgentRuntimes.layerOf(
    openCode(options, rules),
    layerClaude({ stateDirectory: options.project.directory, projectSettings, rules })
  ).pipe(Layer.provide(Layer.effectDiscard(limitHeap)))
}

/** Fails if the agent's program is not installed. */
const find = (runtime: RuntimeName): Effect.Effect<void, ClaudeNotInstalled | OpenCodeNotFound> =>
  Effect.asVoid<unknown, ClaudeNotInstalled | OpenCodeNotFound, never>(
    runtime === "claude" ? locateClaude() : locateOpenCode()
  )

/** The variables that name the program to use. */
const programVariables = { opencode: "REPRISE_OPENCODE", claude: "REPRISE_CLAUDE" } as const

const install = Effect.fnUntraced(function* (runtime: RuntimeName) {
  const { name, version } = agentPackages[runtime]
  say(`Installing ${name} ${version} …`)
  yield* installAgent(runtime, hostEnvironment()).pipe(
    Effect.mapError((error) =>
      missing("runtime-missing", error.message, `Try 'npm install -g ${name}@${version}'.`, error)
    )
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
  if (runtime === "opencode" && openCodeUrl !== undefined) return
  const found = yield* Effect.result(find(runtime))
  if (Result.isSuccess(found)) return
  const { megabytes, name, version } = agentPackages[runtime]
  const byHand = `Install it with 'npm install -g ${name}@${version}'.`
  const notInstalled = missing("runtime-missing", found.failure.message, byHand)
  if (!terminal || (process.env[programVariables[runtime]] ?? "") !== "") return yield* notInstalled
  say(`This run needs ${name} ${version} (about ${megabytes} MB), which is not installed.`)
  if (!(yield* readYes("Install it for you, with npm? [y/N] "))) return yield* notInstalled
  yield* install(runtime)
})
