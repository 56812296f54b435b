/** Reads and checks once everything that a run needs, for `run`, `run --dry-run`, `validate` and `demo`. */
import { defined, type GitRemote, PhaseId, type RunId, type RunOptions, type RunView, to } from "@reprise/protocol"
import { Effect, Schema } from "effect"
import { loadConfig } from "../../config/loadConfig.ts"
import type { Config } from "../../config/resolveConfig.ts"
import { type RunFlags, runOptions } from "../../config/serviceOptions.ts"
import type { SomeSettings } from "../../config/settingsTable.ts"
import type { Project } from "../../project/Project.ts"
import { type PlanFile, readPlanFile } from "../../project/planFile.ts"
import { readPrompts } from "../../project/promptTemplates.ts"
import { wrongUse } from "../../terminal/CliFailure.ts"
import { visibleLine } from "../../terminal/visible.ts"
import { chooseRemote, type WantedRemote } from "./chooseRemote.ts"

/** The validated plan and settings. Exactly these are sent: none is read again. */
export interface PreparedRun {
  readonly project: Project
  readonly plan: PlanFile
  readonly config: Config
  readonly options: RunOptions
  /** Where the hosts get the code. Absent: it is this working tree's. */
  readonly remote?: GitRemote
}

interface Wanted extends Pick<RunFlags, "allowDirty" | "auto" | "skipQuality">, WantedRemote {
  /** The phase to start with, which the plan must have. Default: the first that is not done. */
  readonly phase?: string | undefined
}

const runFlags = Effect.fnUntraced(function* (
  { allowDirty, auto, phase, skipQuality }: Wanted,
  { path, plan }: PlanFile
) {
  const given: RunFlags = { auto, allowDirty, skipQuality }
  if (phase === undefined) return given
  if (!plan.phases.some(({ id }) => id === phase)) {
    return yield* wrongUse(
      "unknown-phase",
      `${visibleLine(path)} has no phase ${phase}.`,
      `Its phases are ${plan.phases.map(({ id }) => id).join(", ")}.`
    )
  }
  return Schema.is(PhaseId)(phase) ? { ...given, startPhase: phase } : given
})

/** Fails where the plan, the settings or what is wanted are wrong. */
export const prepareRun = Effect.fn("prepareRun")(function* (
  project: Project,
  given: string,
  settings: SomeSettings,
  wanted: Wanted
) {
  const plan = yield* readPlanFile(project, given)
  const flags = yield* runFlags(wanted, plan)
  const config = yield* loadConfig(project.root, { flags: settings, plan })
  const options = runOptions(config.settings, flags, yield* readPrompts(project))
  const remote = yield* chooseRemote(project, wanted, config.settings.nats.url)
  return { project, plan, config, options, ...defined({ remote }) } satisfies PreparedRun
})

/** The command that starts the prepared run. */
export const startRun = ({ options, plan, project, remote }: PreparedRun, runId: RunId) =>
  to.orchestrator(runId).StartRun({
    plan: plan.text,
    planPath: plan.path,
    ...(remote === undefined ? { workspace: project.root } : { workspace: "", remote }),
    options
  })

/** Whether a run has the same plan and the same code. */
export const isRunOf = ({ plan, project, remote }: PreparedRun, run: RunView): boolean => {
  if (run.planPath !== plan.path) return false
  return remote === undefined
    ? run.remote === undefined && run.workspace === project.root
    : run.remote?.url === remote.url && run.remote.ref === remote.ref
}
