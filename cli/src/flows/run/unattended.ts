/** Whether a run that nobody attends can get anywhere, told before anything is spent (docs/guide.md#run). */
import { commandOf } from "@reprise/agent/acpCommand"
import type { Plan } from "@reprise/plan"
import type { RunOptions } from "@reprise/protocol"
import type { Standing } from "@reprise/sandbox"
import { Effect } from "effect"
import { runtimesOf } from "../../config/serviceOptions.ts"
import type { Settings } from "../../config/settingsTable.ts"
import { holdsAgents } from "../../system/agents/sandbox.ts"
import { wrongUse } from "../../terminal/CliFailure.ts"
import { visibleLine } from "../../terminal/visible.ts"

/** Why nothing can be done without a human, and what to set. */
interface Obstacle {
  readonly message: string
  readonly hint: string
}

const approves = ({ onPrompt }: Settings["sessions"]): boolean =>
  onPrompt.some((one) => (typeof one === "string" ? one : one.action) === "approve")

/** Why agents ask before each command; undefined: the sandbox runs them. */
const whyAsked = (settings: Settings, runtime: RunOptions["runtime"], standing: Standing): string | undefined => {
  if (standing._tag === "off") return 'sandbox.mode is "off"'
  if (standing._tag === "unusable") return `the sandbox cannot be used here (${standing.reason})`
  if (commandOf(runtime) !== undefined) {
    return holdsAgents(standing) ? undefined : `${runtime} runs its commands outside of the sandbox`
  }
  return runtime === "opencode" && settings.opencode.url !== undefined
    ? "the OpenCode server of opencode.url runs commands outside of the sandbox"
    : undefined
}

/** Undefined: agents can work without a question. */
export const obstacleToAuto = (
  settings: Settings,
  { auto, permissions, ...agents }: Pick<RunOptions, "auto" | "permissions"> & Parameters<typeof runtimesOf>[0],
  standing: Standing
): Obstacle | undefined => {
  if (!auto || permissions === "all" || approves(settings.sessions)) return undefined
  // Whether they are the ones that the work needs shows only when it is done.
  if (settings["permissions.allow"].commands.length > 0) return undefined
  const [why] = runtimesOf(agents).flatMap((runtime) => whyAsked(settings, runtime, standing) ?? [])
  if (why === undefined) return undefined
  return {
    message: `With --auto nobody answers, but agents ask before each command: permissions is "${permissions}", and ${why}. No work could be committed.`,
    hint: "Make the sandbox usable ('reprise doctor' says what is missing), or allow the commands of the work in [permissions.allow], or set permissions to \"all\" on a machine that you can afford to lose, or run without --auto."
  }
}

/** The tasks at whose checkpoints a run waits for a human in auto mode too, whatever is reported there. */
export const autoWaitsAt = (
  { phases }: Pick<Plan, "phases">,
  { auto, gates, startPhase }: Pick<RunOptions, "auto" | "gates" | "startPhase">
): ReadonlyArray<string> => {
  if (!auto) return []
  const first = phases.findIndex(({ id }) => id === startPhase)
  return phases
    .slice(Math.max(0, first))
    .filter(({ done }) => !done)
    .flatMap(({ id, tasks }) =>
      tasks.flatMap(({ checkpoint, id: task, text }) => {
        const waits =
          checkpoint === "human-action" ||
          checkpoint === "architectural-change" ||
          (checkpoint === "human-verify" && gates.verify.length === 0)
        const remedy = checkpoint === "human-verify" ? "; gates.verify would check it" : ""
        return waits ? [`phase ${id}, ${task ?? text} (${checkpoint}${remedy})`] : []
      })
    )
}

/** Fails with exit code 2 where `--auto` cannot work. Returns lines for people: where it will wait for a human. */
export const requireUnattended = Effect.fn("requireUnattended")(function* (
  settings: Settings,
  options: RunOptions,
  plan: Plan,
  standing: Standing
) {
  const obstacle = obstacleToAuto(settings, options, standing)
  if (obstacle !== undefined) return yield* wrongUse("auto-cannot-work", obstacle.message, obstacle.hint)
  return autoWaitsAt(plan, options).map((waits) => visibleLine(`Auto mode will wait for you at ${waits}.`))
})
