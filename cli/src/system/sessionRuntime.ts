/** The runtime of a session of this machine, for looking: the server that runs already, else one for the moment. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { AgentRuntimes, layerClaude, layerOpenCode, OpenCodeServer } from "@reprise/agent"
import type { RuntimeName } from "@reprise/protocol"
import { Effect, Layer, Option, Redacted } from "effect"
import { type Config, get } from "../config/Config.ts"
import type { Project } from "../project/Project.ts"

export interface Place {
  readonly project: Project
  readonly config: Config
}

/** A state directory of its own, so that it is in nobody's way; OpenCode's sessions are the user's all the same. */
const ownServer = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "reprise-opencode-"))),
    (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }))
  ),
  (stateDirectory) => OpenCodeServer.layer({ stateDirectory })
)

/** Whether a server runs that the session's own interface can connect to; Claude needs none. */
export const isServed = Effect.fnUntraced(function* (name: RuntimeName, { config, project }: Place) {
  if (name === "claude" || get<string | undefined>(config, "opencode.url") !== undefined) return true
  return Option.isSome(yield* OpenCodeServer.find(project.directory))
})

const openCodeServer = ({ config, project }: Place) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const url = get<string | undefined>(config, "opencode.url")
      const password = Redacted.make(process.env["OPENCODE_SERVER_PASSWORD"] ?? "")
      if (url !== undefined) return OpenCodeServer.layerConnect({ url, password })
      const running = yield* OpenCodeServer.find(project.directory)
      return Option.isSome(running) ? OpenCodeServer.layerConnect(running.value) : yield* ownServer
    })
  )

/** Lives as long as the effect does. Nothing of what is parked goes on because of it. */
export const withRuntime = <A, E, R>(name: RuntimeName, place: Place, use: Effect.Effect<A, E, R | AgentRuntimes>) => {
  const runtime =
    name === "opencode"
      ? layerOpenCode().pipe(Layer.provide(openCodeServer(place)))
      : layerClaude({ stateDirectory: place.project.directory, visiting: true })
  return use.pipe(Effect.provide(AgentRuntimes.layerSingle.pipe(Layer.provide(runtime))))
}
