/** What a prepared run would do, for `run --dry-run`, `validate` and the web console. */
import type { RunId } from "@reprise/protocol"
import { data, okJson } from "../../terminal/Printer.ts"
import { describePlan, planText } from "../../views/planText.ts"
import { type PreparedRun, startRun } from "./prepareRun.ts"

/** What the run would do. */
export const descriptionOf = (prepared: PreparedRun, runId: RunId) =>
  describePlan(prepared.plan.plan, startRun(prepared, runId).command, prepared.config.settings.sessions.report)

export const describeRun = (prepared: PreparedRun, runId: RunId, json: boolean): void => {
  const description = descriptionOf(prepared, runId)
  if (json) okJson(description)
  else data(planText(description))
}
