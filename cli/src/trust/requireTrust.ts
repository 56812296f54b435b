/** Settings that others may have written are used only after a human trusted them on this machine. */
import type { RuntimeName } from "@reprise/protocol"
import { Effect } from "effect"
import type { Config } from "../config/resolveConfig.ts"
import { configuredRuntimes } from "../config/serviceOptions.ts"
import type { Project } from "../project/Project.ts"
import { missing } from "../terminal/CliFailure.ts"
import { say } from "../terminal/Printer.ts"
import { readYes } from "../terminal/readLine.ts"
import { visible, visibleLine } from "../terminal/visible.ts"
import { agentFileLine } from "./agentFiles.ts"
import { forgetOutdatedFiles, trustAgentFiles, untrustedAgentFiles } from "./projectSettings.ts"
import {
  isCommand,
  type TrustedPath,
  type TrustedSetting,
  trustedSettingLines,
  trustedSettings
} from "./trustedSettings.ts"
import { forgetOutdated, trust, untrusted } from "./trustStore.ts"

/** The agents of a command, whose settings a repository may bring. */
export interface Agents {
  readonly runtime: RuntimeName
  /** OpenCode is a server that somebody else runs, who answers for what it reads. */
  readonly elsewhere: boolean
}

/** The agents of these runtimes. Default: those of the runs that the configuration describes. */
export const agentsOf = ({ settings }: Config, runtimes = configuredRuntimes(settings)): ReadonlyArray<Agents> =>
  runtimes.map((runtime) => ({
    runtime,
    elsewhere: runtime === "opencode" && settings.opencode.url !== undefined
  }))

/** What to trust of the agents' files. Claude leaves out what is not trusted, which `notice` says; OpenCode cannot. */
const filesToTrust = Effect.fnUntraced(function* (project: Project, { elsewhere, runtime }: Agents) {
  if (elsewhere) return { files: [] }
  const files = yield* untrustedAgentFiles(project, runtime)
  if (runtime !== "claude" || files.length === 0) return { files }
  const names = files.map(({ path }) => visibleLine(path))
  return {
    files: [],
    notice: `Claude leaves out what is not trusted ('reprise trust'): ${names.slice(0, 10).join(", ")}`
  }
})

export interface Prompting {
  /** A human at the terminal can be asked. */
  readonly terminal: boolean
  /** Absent: the command starts no agents. */
  readonly agents?: ReadonlyArray<Agents>
  /** The plan as it was named on the command line. */
  readonly plan?: string
}

/**
 * Fails with exit code 3 unless every setting is trusted, or a human at the terminal trusts them now. The settings are of
 * the configuration, which shows what was trusted and has changed since. Returns lines for people: what agents leave out.
 */
export const requireTrust = Effect.fnUntraced(function* (
  project: Project,
  config: Config,
  wanted: ReadonlyArray<TrustedSetting>,
  { agents = [], plan, terminal }: Prompting = { terminal: false }
) {
  yield* forgetOutdated(project, config)
  yield* forgetOutdatedFiles(project)
  const { settings, trouble } = yield* untrusted(project, wanted)
  const ofAgents = yield* Effect.forEach(agents, (one) => filesToTrust(project, one))
  const files = [...new Map(ofAgents.flatMap((one) => one.files).map((file) => [file.digest, file])).values()]
  const notices = ofAgents.flatMap(({ notice }) => notice ?? [])
  if (settings.length === 0 && files.length === 0) return notices
  const list = [...trustedSettingLines(settings), ...files.map(agentFileLine)].join("\n")
  const ofPlan = plan !== undefined && settings.some(({ source }) => source === "plan")
  const notTrusted = missing(
    "not-trusted",
    `${trouble === undefined ? "" : `${trouble}\n`}These settings are not trusted on this machine yet:\n${list}`,
    `Read them, then trust them with '${ofPlan ? `reprise trust ${plan}` : "reprise trust"}'.`
  )
  if (!terminal) return yield* notTrusted
  if (trouble !== undefined) say(visible(trouble))
  if (files.some(({ doubt }) => doubt !== undefined)) return yield* notTrusted
  const onlyCommands = files.length === 0 && settings.every(isCommand)
  const what = onlyCommands ? "commands" : "settings"
  say(`These ${what} come from files in this repository and have not been approved on this machine:\n${list}`)
  if (!(yield* readYes(`${onlyCommands ? "Run" : "Use"} them? [y/N] `))) return yield* notTrusted
  yield* trust(project, settings)
  yield* trustAgentFiles(project, files)
  return notices
})

/** The same for some settings, and for agents that a command starts, without asking anybody. */
export const requireTrusted = (
  project: Project,
  config: Config,
  paths: ReadonlyArray<TrustedPath>,
  agents: ReadonlyArray<Agents> = []
) =>
  requireTrust(project, config, trustedSettings(config, paths), {
    terminal: false,
    agents
  })
