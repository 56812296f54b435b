/** What must hold before a run starts, whoever starts it: checked before anything is spent. */
import { Effect } from "effect"
import { runtimesOf } from "../../config/serviceOptions.ts"
import { requireRuntime } from "../../system/runtimes.ts"
import { requireSandbox, warningOf } from "../../system/sandbox.ts"
import { agentsOf, requireTrust } from "../../trust/requireTrust.ts"
import { trustedSettingsOfRun } from "../../trust/trustedSettings.ts"
import { requireCommit } from "./preflight.ts"
import type { PreparedRun } from "./prepareRun.ts"
import { requireUnattended } from "./unattended.ts"

interface Starter {
  /** A human at the terminal can be asked. */
  readonly terminal: boolean
  /** The plan as it was named. */
  readonly plan: string
}

/** Fails with what is missing and the next step. Returns what the user should know, as lines for people. */
export const requireStartable = Effect.fn("requireStartable")(function* (
  prepared: PreparedRun,
  { plan, terminal }: Starter
) {
  const { config, options, project } = prepared
  const { settings } = config
  const standing = yield* requireSandbox({ project, settings })
  const waits = yield* requireUnattended(settings, options, prepared.plan.plan, standing)
  yield* Effect.forEach(runtimesOf(options), (runtime) =>
    requireRuntime(runtime, { openCodeUrl: settings.opencode.url, terminal })
  )
  yield* requireCommit(prepared)
  const notices = yield* requireTrust(project, config, trustedSettingsOfRun(config, options), {
    terminal,
    plan,
    agents: agentsOf(config)
  })
  const warning = warningOf(standing, options.runtime)
  return [...waits, ...notices, ...(warning === undefined ? [] : [warning])]
})
