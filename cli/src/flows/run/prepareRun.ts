/** Reads and checks once everything that a run needs, for `run`, `run --dry-run`, `validate` and `demo`. */
import { type RunId, type RunOptions, to } from "@reprise/protocol"
import { Effect } from "effect"
import { loadConfig } from "../../config/loadConfig.ts"
import type { Config } from "../../config/resolveConfig.ts"
import { type RunFlags, runOptions } from "../../config/serviceOptions.ts"
import type { SomeSettings } from "../../config/settingsTable.ts"
import type { Project } from "../../project/Project.ts"
import { type PlanFile, readPlanFile } from "../../project/planFile.ts"
import { readPrompts } from "../../project/prompts.ts"
import { data, okJson } from "../../terminal/Printer.ts"
import { describePlan, planText } from "../../views/planText.ts"

/** The validated plan and settings. Exactly these are sent: none is read again. */
export interface PreparedRun {
  readonly project: Project
  readonly plan: PlanFile
  readonly config: Config
  readonly options: RunOptions
}

/** `flags` may depend on the plan, such as the phase to start with. */
export const prepareRun = Effect.fn("prepareRun")(function* <E>(
  project: Project,
  given: string,
  settings: SomeSettings,
  flags: (plan: PlanFile) => Effect.Effect<RunFlags, E>
) {
  const plan = yield* readPlanFile(project, given)
  const runFlags = yield* flags(plan)
  const config = yield* loadConfig(project.root, { flags: settings, plan })
  const options = runOptions(config.settings, runFlags, yield* readPrompts(project))
  return { project, plan, config, options } satisfies PreparedRun
})

/** The command that starts the prepared run. */
export const startRun = ({ options, plan, project }: PreparedRun, runId: RunId) =>
  to.orchestrator(runId).StartRun({ plan: plan.text, planPath: plan.path, workspace: project.root, options })

/** Prints what the run would do. */
export const describeRun = (prepared: PreparedRun, runId: RunId, json: boolean): void => {
  const { config, plan } = prepared
  const description = describePlan(plan.plan, startRun(prepared, runId).command, config.settings.sessions.report)
  if (json) okJson(description)
  else data(planText(description))
}
