/** Checks whether commands run in the sandbox here. */
import { unguardedBy } from "@reprise/agent"
import { shortcomings } from "@reprise/sandbox"
import { Effect } from "effect"
import { configuredRuntimes } from "../../config/serviceOptions.ts"
import { standingOf } from "../../system/agents/sandbox.ts"
import type { SystemOptions } from "../../system/SystemOptions.ts"
import { broken, ok, warning } from "./findings.ts"

export const checkSandbox = Effect.fn("checkSandbox")(function* (options: SystemOptions) {
  const { opencode, sandbox } = options.settings
  const { mode } = sandbox
  const { standing } = yield* standingOf(options)
  if (standing._tag === "off") {
    const next = 'Set sandbox.mode to "auto", or run in a container that you can afford to lose.'
    return warning("sandbox", "Switched off: commands run with all your rights.", next)
  }
  if (standing._tag === "unusable") {
    const found = mode === "required" ? broken : warning
    return found("sandbox", `Cannot be used. ${standing.reason}`, "Until then agents ask before each command.")
  }
  const startsOpenCode = opencode.url === undefined && configuredRuntimes(options.settings).includes("opencode")
  const unguarded = startsOpenCode ? unguardedBy(process.env) : undefined
  if (unguarded !== undefined) return broken("sandbox", `OpenCode is not started: ${unguarded.problem}`, unguarded.next)
  const missing = shortcomings(standing)
  if (standing.loadedFromTree !== undefined) {
    return warning(
      "sandbox",
      "Commands run in it, but Reprise itself may run programs that they wrote.",
      missing.join(" ")
    )
  }
  if (missing.length > 0 && standing.engine === "bubblewrap") {
    return warning("sandbox", "Commands run in it, but what they start may outlive them.", missing.join(" "))
  }
  if (missing.length > 0) {
    const next = "Run in a container or on Linux if you need them, or help to try it."
    return warning("sandbox", `Commands run in Seatbelt. ${missing.join(" ")}`, next)
  }
  return ok("sandbox", "Commands run in it; 'reprise sandbox explain' shows what they may touch.")
})
