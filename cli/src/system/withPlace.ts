/** For commands that look at sessions: the repository around the current directory, its system, and where its runtimes are. */
import type { ActorConfig, Broker, Messenger } from "@reprise/actor"
import { Effect, Option } from "effect"
import { loadConfig } from "../config/loadConfig.ts"
import { findProject } from "../project/Project.ts"
import { requireTrusted } from "../trust/requireTrust.ts"
import { withReading } from "./clientSystem.ts"
import { usesRemote } from "./System.ts"
import type { Place } from "./sessionRuntime.ts"

export interface SessionFlags {
  readonly json: boolean
  readonly nats: Option.Option<string>
}

export const withPlace = <A, E>(
  flags: SessionFlags,
  use: (place: Place, remote: boolean) => Effect.Effect<A, E, Messenger | Broker | ActorConfig>
) =>
  Effect.gen(function* () {
    const project = yield* findProject(process.cwd())
    const config = yield* loadConfig(project.root, new Map())
    yield* requireTrusted(project, config, ["opencode.url"])
    const nats = Option.getOrUndefined(flags.nats)
    const remote = usesRemote({ project, config, ...(nats === undefined ? {} : { nats }) })
    return yield* withReading(flags, use({ project, config }, remote))
  })
