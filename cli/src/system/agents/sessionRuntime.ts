/** The runtime of a session on this machine, for commands that look into it: the running server, else a temporary one. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { ActorConfig, Broker, Messenger } from "@reprise/actor"
import { AgentRuntimes, layerClaude, layerOpenCode, OpenCodeServer } from "@reprise/agent"
import { commandOf } from "@reprise/agent/acpCommand"
import type { RuntimeName } from "@reprise/protocol"
import { Effect, Layer, Option } from "effect"
import { requireTrusted } from "../../trust/requireTrust.ts"
import { runtimeSettings } from "../../trust/trustedSettings.ts"
import { type ClientFlags, clientOptions, withClient } from "../clientSystem.ts"
import type { SystemOptions } from "../SystemOptions.ts"
import { heldBackOnly } from "./ruleBook.ts"
import { configuredAcp, isConfigured, openCodeAt, settingsFor } from "./runtimes.ts"

/** It has its own state directory, so that it disturbs nothing; OpenCode keeps sessions in the user's data directory. */
const temporaryServer = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "reprise-opencode-"))),
    (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }))
  ),
  (stateDirectory) => OpenCodeServer.layer({ stateDirectory })
)

/** Whether a server runs that the runtime's own interface can connect to; the others need none. */
export const isServed = Effect.fnUntraced(function* (name: RuntimeName, { project, settings }: SystemOptions) {
  if (name !== "opencode" || settings.opencode.url !== undefined) return true
  return Option.isSome(yield* OpenCodeServer.find(project.directory))
})

const openCodeServer = ({ project, settings: { opencode } }: SystemOptions) =>
  Layer.unwrap(
    Effect.gen(function* () {
      if (opencode.url !== undefined) return openCodeAt(opencode.url)
      const running = yield* OpenCodeServer.find(project.directory)
      return Option.isSome(running) ? OpenCodeServer.layerConnect(running.value) : yield* temporaryServer
    })
  )

/** Provides the runtime while the effect runs. This continues no parked work. */
export const withRuntime = <A, E, R>(
  name: RuntimeName,
  options: SystemOptions,
  use: Effect.Effect<A, E, R | AgentRuntimes>
) => {
  const command = commandOf(name)
  if (command !== undefined) {
    // A session's record may name any command: only those of the settings are trusted.
    const runtimes = isConfigured(options, name)
      ? AgentRuntimes.layerSingle.pipe(Layer.provide(configuredAcp(options, name, command, true)))
      : Layer.succeed(AgentRuntimes, AgentRuntimes.make([]))
    return use.pipe(Effect.provide(runtimes))
  }
  const rules = heldBackOnly(options.settings)
  const runtime =
    name === "opencode"
      ? layerOpenCode({ projectSettings: settingsFor(options, "opencode"), rules }).pipe(
          Layer.provide(openCodeServer(options))
        )
      : layerClaude({
          stateDirectory: options.project.directory,
          visiting: true,
          projectSettings: settingsFor(options, "claude"),
          rules
        })
  return use.pipe(Effect.provide(AgentRuntimes.layerSingle.pipe(Layer.provide(runtime))))
}

/** For commands about one session: the client, and the options that lead to the session's runtime. */
export const withSessionClient = Effect.fnUntraced(function* <A, E>(
  flags: ClientFlags,
  use: (options: SystemOptions) => Effect.Effect<A, E, Messenger | Broker | ActorConfig>
) {
  const { config, options } = yield* clientOptions(flags)
  yield* requireTrusted(options.project, config, ["opencode.url", ...runtimeSettings])
  return yield* withClient(flags, use(options))
})
