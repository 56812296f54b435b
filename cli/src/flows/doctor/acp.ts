/** Checks the agent that the setting `runtime` names by its command. It is started only if it is trusted. */
import { AgentRuntimes, locateAcp } from "@reprise/agent"
import { commandOf } from "@reprise/agent/acpCommand"
import { Effect } from "effect"
import type { Config } from "../../config/resolveConfig.ts"
import type { SystemOptions } from "../../system/System.ts"
import { withRuntime } from "../../system/sessionRuntime.ts"
import { visibleLine } from "../../terminal/visible.ts"
import { requireTrusted } from "../../trust/requireTrust.ts"
import { broken, type Finding, warning } from "./findings.ts"

const check = "acp"

const shakeHands = (options: SystemOptions) =>
  withRuntime(
    options.settings.runtime,
    options,
    Effect.gen(function* () {
      const runtime = yield* (yield* AgentRuntimes).get(options.settings.runtime)
      return yield* runtime.check
    })
  ).pipe(Effect.scoped)

/** Nothing for a runtime that is no command. */
export const checkAcp = Effect.fn("checkAcp")(function* (
  options: SystemOptions,
  config: Config
): Effect.fn.Return<ReadonlyArray<Finding>> {
  const { runtime, sandbox } = options.settings
  const command = commandOf(runtime)
  if (command === undefined) return []
  const program = yield* locateAcp(command, process.env)
  if (program === undefined) {
    return [broken(check, `There is no program for ${visibleLine(runtime)}.`, "Install it, or correct 'runtime'.")]
  }
  if (sandbox.mode === "required") {
    return [broken(check, "Its commands run outside of the sandbox, which is required.", "Choose another 'runtime'.")]
  }
  return yield* requireTrusted(options.project, config, ["runtime"]).pipe(
    Effect.andThen(shakeHands(options)),
    Effect.map(({ version }) =>
      warning(
        check,
        `${visibleLine(command)} ${visibleLine(version)} (${program}) answers. Over this protocol agents are experimental.`,
        "docs/agents.md says what works with which agent."
      )
    ),
    Effect.catch(({ message }) => Effect.succeed(broken(check, visibleLine(message), "See docs/agents.md."))),
    Effect.map((finding) => [finding])
  )
})
