/** The sandbox of this host, as the settings say. */
import { agentOfCommand, knowsNeeds } from "@reprise/agent"
import { commandOf, isOpenCode, parseCommand } from "@reprise/agent/acpCommand"
import type { RuntimeName } from "@reprise/protocol"
import { layerSandbox, Sandbox, type SandboxOptions, type Standing, shortcomings } from "@reprise/sandbox"
import { Effect } from "effect"
import { configuredRuntimes } from "../../config/serviceOptions.ts"
import type { Settings } from "../../config/settingsTable.ts"
import { readClone } from "../../project/cloneId.ts"
import type { Project } from "../../project/Project.ts"
import { missing } from "../../terminal/CliFailure.ts"
import { rememberedRules } from "../../trust/rememberedRules.ts"

interface Options {
  readonly project: Project
  readonly settings: Settings
}

const sandboxOptions = ({ project, settings }: Options): SandboxOptions => {
  const { deny, gates, mode, network, read, write } = settings.sandbox
  return {
    mode,
    settings: { deny, network, read, write },
    // Where agents may do everything, so may the commands that the user configured, unless the sandbox is required.
    gates: gates && (mode === "required" || settings.permissions !== "all"),
    stateDirectory: project.directory
  }
}

/** Where a human has allowed commands to write for good, as it is now. Outside of a clone nothing can be remembered. */
const openedIn = ({ project }: Options) =>
  readClone(project).pipe(
    Effect.flatMap(rememberedRules.read),
    Effect.map(({ entries }) => entries.flatMap(({ kind, what }) => (kind === "write" ? [what] : []))),
    Effect.orElseSucceed((): ReadonlyArray<string> => [])
  )

export const sandboxOf = (options: Options) => layerSandbox({ ...sandboxOptions(options), opened: openedIn(options) })

/** Whether agents with the permissions of the settings run in it, where it can be used. */
export const coversAgents = ({ permissions, sandbox: { mode } }: Settings): boolean =>
  mode === "required" || (mode === "auto" && permissions !== "all")

/** What holds for this repository; looks, and leaves the programs of a running Reprise alone. */
export const standingOf = (options: Options) =>
  Sandbox.pipe(Effect.provide(layerSandbox({ ...sandboxOptions(options), opened: openedIn(options), visiting: true })))

/** Whether an agent by its command runs in the sandbox as a whole, with all its commands. */
export const holdsAgents = (standing: Standing): boolean => standing._tag === "used" && standing.engine === "bubblewrap"

/** What holds only for an agent that is started by its command. */
const acpWarning = (standing: Standing, runtime: RuntimeName): string | undefined => {
  const command = commandOf(runtime)
  if (command === undefined) return undefined
  const outside = `Agents' commands run without the sandbox: ${runtime} starts them itself, and Seatbelt lets no agent reach its model.`
  const unknown = `${runtime} runs in the sandbox as a whole. Reprise does not know its needs: name its folders, servers and login variables in sandbox.agentWrite, sandbox.agentNetwork and sandbox.agentEnvironment.`
  const unasked = `What ${runtime} does without asking is up to its own settings, whatever 'permissions' says.`
  const untried =
    agentOfCommand(command) === undefined ? [`${runtime} is not an agent that Reprise was tested with.`] : []
  const lines = [
    ...(standing._tag === "used" && !holdsAgents(standing) ? [outside] : []),
    ...(holdsAgents(standing) && !knowsNeeds(command) ? [unknown] : []),
    ...(isOpenCode(parseCommand(command)) ? [] : [[...untried, unasked].join(" ")])
  ]
  return lines.length === 0 ? undefined : lines.join("\n")
}

/** Lines for people, if commands run without the sandbox or without questions although the settings want it. */
export const warningOf = (standing: Standing, runtimes: ReadonlyArray<RuntimeName>): string | undefined => {
  const lines = [
    ...(standing._tag === "unusable" ? [`Commands run without a sandbox: ${standing.reason}`] : []),
    ...(standing._tag === "used" ? shortcomings(standing) : []),
    ...runtimes.flatMap((runtime) => acpWarning(standing, runtime) ?? [])
  ]
  return lines.length === 0 ? undefined : lines.join("\n")
}

/** Fails with exit code 3 for an agent that starts its commands itself, where the sandbox is required and cannot hold it. */
export const requireSandboxed = (runtime: RuntimeName, { sandbox }: Settings, standing: Standing) =>
  sandbox.mode === "required" && commandOf(runtime) !== undefined && !holdsAgents(standing)
    ? missing(
        "sandbox-missing",
        `sandbox.mode is "required", but commands of ${runtime} run outside of the sandbox.`,
        'Set the runtime to "opencode" or "claude", or sandbox.mode to "auto".'
      )
    : Effect.void

/** Fails with exit code 3 where the sandbox is required and cannot be used. */
export const requireSandbox = Effect.fn("requireSandbox")(function* (options: Options) {
  const { settings } = options
  const { standing } = yield* standingOf(options)
  if (standing._tag === "unusable" && settings.sandbox.mode === "required") {
    return yield* missing(
      "sandbox-missing",
      `sandbox.mode is "required", but the sandbox cannot be used. ${standing.reason}`,
      'Install what is missing, or set sandbox.mode to "auto".'
    )
  }
  yield* Effect.forEach(configuredRuntimes(settings), (runtime) => requireSandboxed(runtime, settings, standing))
  return standing
})
