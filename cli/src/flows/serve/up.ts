/** `reprise up`: all services of this repository until stopped. */
import { Effect, Option } from "effect"
import { loadConfig } from "../../config/loadConfig.ts"
import { findProject } from "../../project/Project.ts"
import { hostName } from "../../system/hostName.ts"
import { requireTrusted } from "../../trust/requireTrust.ts"
import { agentSettings, serverSettings } from "../../trust/trustedSettings.ts"
import { serveProject } from "./serveProject.ts"

interface Flags {
  readonly json: boolean
  readonly nats: Option.Option<string>
}

export const up = Effect.fn("up")(function* ({ json, nats }: Flags) {
  const project = yield* findProject(process.cwd())
  const config = yield* loadConfig(
    project.root,
    new Map(Option.match(nats, { onNone: () => [], onSome: (url) => [["nats.url", url] as const] }))
  )
  yield* requireTrusted(project, config, [...serverSettings, ...agentSettings])
  return yield* serveProject({ project, config, json, host: yield* hostName })
})
