/** `reprise validate PLAN`: parses, shows, spends nothing. */
import { Effect } from "effect"
import { loadConfig } from "../config/loadConfig.ts"
import { runOptions } from "../config/runOptions.ts"
import { data, okJson } from "../Printer.ts"
import { findProject } from "../project/Project.ts"
import { readPrompts } from "../prompts/readPrompts.ts"
import { describePlan, planText } from "./describePlan.ts"
import { readPlan } from "./readPlan.ts"

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
