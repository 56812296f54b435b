/** The agent runtimes of this host: OpenCode always; Claude where its SDK is installed, which is seen when it is used. */
import { AgentRuntimes, layerClaude, layerOpenCode, OpenCodeServer } from "@reprise/agent"
import { Effect, Layer, Redacted } from "effect"
import { get } from "../config/Config.ts"
import { frugal } from "./limitHeap.ts"
import type { SystemOptions } from "./System.ts"

const server = ({ config, openCodeEnvironment, project }: SystemOptions) => {
  const url = get<string | undefined>(config, "opencode.url")
  return url === undefined
    ? OpenCodeServer.layer({
        stateDirectory: project.directory,
        environment: { ...process.env, ...openCodeEnvironment }
      })
    : OpenCodeServer.layerConnect({ url, password: Redacted.make(process.env["OPENCODE_SERVER_PASSWORD"] ?? "") })
}

/** It is started before anything else happens, unless the agents are to live elsewhere. */
const started = Layer.effectDiscard(Effect.flatMap(OpenCodeServer, ({ connection }) => connection))

const openCode = (options: SystemOptions) =>
  Layer.provideMerge(
    layerOpenCode(),
    options.lazyAgents !== true && get(options.config, "runtime") === "opencode" ? started : Layer.empty
  ).pipe(Layer.provide(server(options)))

export const runtimes = (options: SystemOptions) =>
  AgentRuntimes.layerOf(openCode(options), layerClaude({ stateDirectory: options.project.directory })).pipe(
    Layer.provide(Layer.effectDiscard(frugal))
  )
