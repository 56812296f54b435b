/** What must hold before a run starts, whoever starts it: checked before anything is spent. */
import type { Standing } from "@reprise/sandbox"
import { Effect, Fiber } from "effect"
import { runtimesOf } from "../../config/serviceOptions.ts"
import { requireRuntime } from "../../system/agents/runtimes.ts"
import { requireSandbox, warningOf } from "../../system/agents/sandbox.ts"
import { agentsOf, requireTrust } from "../../trust/requireTrust.ts"
import { trustedSettingsOfRun } from "../../trust/trustedSettings.ts"
import { requirePushed } from "./chooseRemote.ts"
import { requireCommit, requireFirstCleanTree } from "./preflight.ts"
import type { PreparedRun } from "./prepareRun.ts"
import { requireUnattended } from "./unattended.ts"

interface Starter {
  /** A human at the terminal can be asked. */
  readonly terminal: boolean
  /** The plan as it was named. */
  readonly plan: string
  /** The run begins from a ref of the remote that the user has named. */
  readonly ownRef?: boolean
}

/** The hosts of a remote's run have agents and a sandbox of their own, and say themselves what they lack. */
const elsewhere: Standing = { _tag: "used", engine: "bubblewrap" }

/** Fails with what is missing and the next step. Returns what the user should know, as lines for people. */
export const requireStartable = Effect.fn("requireStartable")(function* (
  prepared: PreparedRun,
  { ownRef = false, plan, terminal }: Starter
) {
  const { config, options, project } = prepared
  const { settings } = config
  // Git is asked beside the rest. What is told first does not depend on which is done first.
  const committed = yield* Effect.forkChild(requireCommit(prepared))
  const clean = yield* Effect.forkChild(requireFirstCleanTree(prepared))
  const standing = prepared.remote === undefined ? yield* requireSandbox({ project, settings }) : elsewhere
  const waits = yield* requireUnattended(settings, options, prepared.plan.plan, standing)
  if (prepared.remote === undefined) {
    yield* Effect.forEach(runtimesOf(options), (runtime) =>
      requireRuntime(runtime, { openCodeUrl: settings.opencode.url, terminal })
    )
  }
  yield* Fiber.join(committed)
  if (prepared.remote !== undefined) yield* requirePushed(prepared, prepared.remote, ownRef)
  const notices = yield* requireTrust(project, config, trustedSettingsOfRun(config, options), {
    terminal,
    plan,
    agents: agentsOf(config)
  })
  yield* Fiber.join(clean)
  const warning = warningOf(standing, runtimesOf(options))
  return [...waits, ...notices, ...(warning === undefined ? [] : [warning])]
})
