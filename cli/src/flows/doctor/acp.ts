/** Checks the agents that the settings name by their commands. They are started only if they are trusted. */
import { AgentRuntimes, knowsNeeds, locateAcp } from "@reprise/agent"
import { commandOf } from "@reprise/agent/acpCommand"
import type { RuntimeName } from "@reprise/protocol"
import { Effect } from "effect"
import type { Config } from "../../config/resolveConfig.ts"
import { configuredRuntimes } from "../../config/serviceOptions.ts"
import { holdsAgents, standingOf } from "../../system/agents/sandbox.ts"
import { withRuntime } from "../../system/agents/sessionRuntime.ts"
import type { SystemOptions } from "../../system/SystemOptions.ts"
import { visibleLine } from "../../terminal/visible.ts"
import { requireTrusted } from "../../trust/requireTrust.ts"
import { runtimeSettings } from "../../trust/trustedSettings.ts"
import { broken, type Finding, warning } from "./findings.ts"

const check = "acp"

const shakeHands = (options: SystemOptions, name: RuntimeName) =>
  withRuntime(
    name,
    options,
    Effect.gen(function* () {
      const runtime = yield* (yield* AgentRuntimes).get(name)
      return yield* runtime.check
    })
  ).pipe(Effect.scoped)

const whereItRuns = (command: string, holds: boolean): string => {
  if (!holds) return "It runs outside of the sandbox."
  return knowsNeeds(command)
    ? "It runs in the sandbox as a whole."
    : "It runs in the sandbox as a whole, with what sandbox.agentWrite, agentNetwork and agentEnvironment name."
}

/** Undefined for a runtime that is not a command. */
const checkRuntime = Effect.fnUntraced(function* (
  options: SystemOptions,
  config: Config,
  runtime: RuntimeName
): Effect.fn.Return<Finding | undefined> {
  const command = commandOf(runtime)
  if (command === undefined) return undefined
  const program = yield* locateAcp(command, process.env)
  if (program === undefined) {
    return broken(check, `No program was found for ${visibleLine(runtime)}.`, "Install it, or correct 'runtime'.")
  }
  const { standing } = yield* standingOf(options)
  const holds = holdsAgents(standing)
  if (options.settings.sandbox.mode === "required" && !holds) {
    return broken(
      check,
      "Its commands run outside of the sandbox, but sandbox.mode is required.",
      "Choose another 'runtime'."
    )
  }
  return yield* requireTrusted(options.project, config, runtimeSettings).pipe(
    Effect.andThen(shakeHands(options, runtime)),
    Effect.map(({ version }) =>
      warning(
        check,
        `${visibleLine(command)} ${visibleLine(version)} (${program}) answers. ${whereItRuns(command, holds)} Over this protocol agents are experimental.`,
        "docs/agents.md says what works with which agent."
      )
    ),
    Effect.catch(({ message }) => Effect.succeed(broken(check, visibleLine(message), "See docs/agents.md.")))
  )
})

export const checkAcp = Effect.fn("checkAcp")(function* (options: SystemOptions, config: Config) {
  const found = yield* Effect.forEach(configuredRuntimes(options.settings), (runtime) =>
    checkRuntime(options, config, runtime)
  )
  return found.filter((finding) => finding !== undefined)
})
