/** `reprise serve console --nats URL`: the web console of the services of a NATS server, as in a container. */
import { Effect, Layer } from "effect"
import { remoteSettings } from "../../system/broker/broker.ts"
import type { ClientFlags } from "../../system/clientSystem.ts"
import { consoleSettings } from "../../trust/trustedSettings.ts"
import { openSharedConsole, prepareSharedConsole } from "../console/openConsole.ts"
import { launched } from "./launched.ts"
import { servedProject } from "./servedProject.ts"

/** To the server it is a person at the gate: it answers questions and controls runs, and decides nothing. */
export const serveConsole = Effect.fn("serveConsole")(function* ({ nats }: ClientFlags) {
  const { project, settings, url } = yield* servedProject({ nats }, undefined, [
    ...consoleSettings,
    "web.origin",
    "web.answerKey"
  ])
  const console = yield* prepareSharedConsole(settings)
  const options = { project, settings, nats: url }
  return yield* launched(
    Layer.effectDiscard(openSharedConsole(console, options)),
    {
      ...remoteSettings(settings, url, "person"),
      name: "console"
    },
    settings
  )
})
