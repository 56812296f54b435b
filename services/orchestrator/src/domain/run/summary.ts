/** SUMMARY.md, from what the run remembers (continuation: Many checkpoints, and the summary). */
import { parsePlan, planSlug, renderSummary, type Summary, summaryPath, taskResults } from "@reprise/plan"
import { Result } from "effect"
import type { RunEvent } from "../Event.ts"
import type { PhaseOutcome, Run } from "../Run.ts"

const noSubjects: ReadonlyMap<string, string> = new Map()

const phasesOf = (run: Run): Summary["phases"] => {
  const plan = parsePlan(run.source)
  if (Result.isFailure(plan)) return []
  return plan.success.phases.map((phase) => {
    const ended = run.outcomes.find((outcome) => outcome.id === phase.id)
    return {
      id: phase.id,
      title: phase.title,
      ...(ended === undefined ? {} : { completedBy: ended.by }),
      tasks: taskResults(phase, ended?.tasks ?? [], ended?.checkpoints ?? [], noSubjects)
    }
  })
}

const overrideOf = ({ by, guidance, id, who }: PhaseOutcome): Summary["overrides"] =>
  by === "override" ? [{ phase: id, by: who ?? "unknown", reason: guidance ?? "no reason given" }] : []

/** What the reviewer raised and let pass, or an override passed over. */
const declinedOf = ({ id, notes }: PhaseOutcome): Summary["declined"] =>
  notes.map((item) => ({ phase: id, id: item.id, title: item.title, reason: item.reason }))

const summaryOf = (run: Run): Summary => ({
  planId: run.planId,
  ...(run.planTitle === undefined ? {} : { title: run.planTitle }),
  runId: run.runId,
  phases: phasesOf(run),
  overrides: run.outcomes.flatMap(overrideOf),
  declined: run.outcomes.flatMap(declinedOf),
  deviations: [],
  usage: run.phaseUsage
})

export const writeSummary = (run: Run): RunEvent => ({
  _tag: "WorkspaceAsked",
  command: {
    _tag: "WriteSummary",
    runId: run.runId,
    path: summaryPath(run.planId, planSlug(run.request.planPath)),
    text: renderSummary(summaryOf(run))
  }
})
