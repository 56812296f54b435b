/** `reprise validate PLAN`: parses, shows, spends nothing. */
import { Effect } from "effect"
import { loadConfig } from "../../config/loadConfig.ts"
import { runOptions } from "../../config/runOptions.ts"
import { findProject } from "../../project/Project.ts"
import { readPlan } from "../../project/planFile.ts"
import { readPrompts } from "../../project/readPrompts.ts"
import { data, okJson } from "../../terminal/Printer.ts"
import { describePlan, planText } from "../../views/planText.ts"

export const validatePlan = Effect.fn("validatePlan")(function* (flags: {
  readonly plan: string
  readonly json: boolean
}) {
  const project = yield* findProject(process.cwd())
  const { path, plan, text } = yield* readPlan(project, flags.plan)
  const config = yield* loadConfig(project.root, new Map(), { path, plan })
  const given = { auto: false, allowDirty: false, skipQuality: false }
  const options = runOptions(config, given, yield* readPrompts(project))
  const description = describePlan(plan, { planPath: path, plan: text, workspace: project.root, options })
  if (flags.json) okJson(description)
  else data(planText(description))
})
