/** The OpenCode of this host. It is started before anything else happens: without it nothing could be done. */
import { layerOpenCode, OpenCodeServer } from "@reprise/agent"
import { Effect, Layer, Redacted } from "effect"
import { get } from "../config/Config.ts"
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

const started = Layer.effectDiscard(Effect.flatMap(OpenCodeServer, ({ connection }) => connection))

export const openCode = (options: SystemOptions) =>
  Layer.provideMerge(layerOpenCode(), started).pipe(Layer.provideMerge(server(options)))
