/** A container's entry point: the session-manager of one host, with its own OpenCode, and Claude where it is installed. */
import { join } from "node:path"
import { runService } from "@reprise/actor/main"
import { AgentRuntimes, layerClaude, layerOpenCode, OpenCodeServer } from "@reprise/agent"
import { Layer } from "effect"
import { layer } from "./service.ts"

const stateDirectory = process.env.REPRISE_STATE ?? join(process.cwd(), ".reprise")

const openCode = layerOpenCode().pipe(Layer.provide(OpenCodeServer.layer({ stateDirectory, warm: true })))

runService(
  "session-manager",
  layer.pipe(Layer.provide(AgentRuntimes.layerOf(openCode, layerClaude({ stateDirectory }))))
)
