/** The agent runtimes of this host: OpenCode, and Claude if its SDK is installed, which is checked on first use. */
import {
  AgentRuntimes,
  allTrusted,
  layerClaude,
  layerOpenCode,
  locateClaude,
  OpenCodeNotPermitted,
  OpenCodeServer,
  type ProjectSettings
} from "@reprise/agent"
import type { RuntimeName } from "@reprise/protocol"
import { Effect, Layer, Redacted } from "effect"
import type { Project } from "../project/Project.ts"
import { missing } from "../terminal/CliFailure.ts"
import { projectSettings } from "../trust/projectSettings.ts"
import { limitHeap } from "./memory.ts"
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

const openCode = (options: SystemOptions) =>
  Layer.provideMerge(
    layerOpenCode({ projectSettings: settingsFor(options, "opencode") }),
    options.lazyAgents !== true && options.settings.runtime === "opencode" ? startServer : Layer.empty
  ).pipe(Layer.provide(openCodeServer(options)))

export const runtimes = (options: SystemOptions) =>
  AgentRuntimes.layerOf(
    openCode(options),
    layerClaude({ stateDirectory: options.project.directory, projectSettings: settingsFor(options, "claude") })
  ).pipe(Layer.provide(Layer.effectDiscard(limitHeap)))

/** Fails with exit code 3 if a run with Claude could not start. */
export const requireRuntime = (runtime: RuntimeName) =>
  runtime === "claude"
    ? Effect.mapError(locateClaude(), (error) =>
        missing("runtime-missing", error.message, "Install it, or use --runtime opencode.", error)
      )
    : Effect.void
