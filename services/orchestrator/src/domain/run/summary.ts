/** SUMMARY.md, from what the run remembers (continuation: Many checkpoints, and the summary). */
import {
  besideState,
  parsePlan,
  planSlug,
  renderSummary,
  type Summary,
  slugOf,
  summaryPath,
  taskResults
} from "@reprise/plan"
import type { PhaseId } from "@reprise/protocol"
import { Result } from "effect"
import type { RunEvent } from "../Event.ts"
import { plannedPhase } from "../phases.ts"
import type { PhaseOutcome, Run, Saving } from "../Run.ts"
import { deviationsOf } from "./deviations.ts"
import { type PhaseRecord, phaseOfTask, recordOf } from "./phaseRecord.ts"

/** Tasks of other phases are told of there. */
const ownTasks = (run: Run, id: PhaseId, known: PhaseRecord | undefined): PhaseRecord["tasks"] =>
  (known?.tasks ?? []).filter((task) => phaseOfTask(run, task.id) === undefined || phaseOfTask(run, task.id) === id)

const phasesOf = (run: Run, only: PhaseId | undefined): Summary["phases"] => {
  const plan = parsePlan(run.source)
  if (Result.isFailure(plan)) return []
  const subjects = new Map(run.subjects.map(({ commit, subject }) => [commit, subject]))
  return plan.success.phases
    .filter(({ id }) => only === undefined || id === only)
    .map((phase) => {
      const known = recordOf(run, phase.id)
      const approval = known?.by === undefined ? undefined : { by: known.by, commit: known.commit }
      return {
        id: phase.id,
        title: phase.title,
        ...(known?.by === undefined ? {} : { completedBy: known.by }),
        ...(known?.commit === undefined ? {} : { commit: known.commit }),
        tasks: taskResults(phase, ownTasks(run, phase.id, known), known?.checkpoints ?? [], subjects, approval)
      }
    })
}

const overrideOf = ({ by, guidance, id, who }: PhaseOutcome): Summary["overrides"] =>
  by === "override" ? [{ phase: id, by: who ?? "unknown", reason: guidance ?? "no reason given" }] : []

/** What the reviewer raised and let pass, or an override passed over. */
const declinedOf = ({ id, notes }: PhaseOutcome): Summary["declined"] =>
  notes.map((item) => ({ phase: id, id: item.id, title: item.title, reason: item.reason }))

/** Absent when nothing went on in a session and no fresh author was spared a conversation. */
const savedOf = (savings: ReadonlyArray<Saving>): Pick<Summary, "saved"> => {
  const sum = (name: Exclude<keyof Saving, "phase">) => savings.reduce((total, saving) => total + saving[name], 0)
  const saved = {
    continuedTurns: sum("continuedTurns"),
    cachedTokens: sum("cachedTokens"),
    unsentTokens: sum("unsentTokens")
  }
  return saved.continuedTurns + saved.unsentTokens === 0 ? {} : { saved }
}

/** Of the whole run, or of one phase alone; of one that is under way too. */
export const summaryOf = (run: Run, only?: PhaseId): Summary => {
  const isMeant = ({ phase }: { readonly phase: PhaseId }) => only === undefined || phase === only
  const outcomes = run.outcomes.filter(({ id }) => only === undefined || id === only)
  const phases = phasesOf(run, only)
  return {
    planId: run.planId,
    ...(run.planTitle === undefined ? {} : { title: run.planTitle }),
    runId: run.runId,
    ...(only === undefined ? {} : { phase: only }),
    phases,
    overrides: outcomes.flatMap(overrideOf),
    declined: outcomes.flatMap(declinedOf),
    deviations: phases.flatMap(({ id }) => deviationsOf(run, id)),
    usage: run.phaseUsage.filter(isMeant),
    ...savedOf(run.savings.filter(isMeant))
  }
}

export const writeSummary = (run: Run): RunEvent => ({
  _tag: "WorkspaceAsked",
  command: {
    _tag: "WriteSummary",
    runId: run.runId,
    path: summaryPath(run.planId, planSlug(run.request.planPath)),
    text: renderSummary(summaryOf(run))
  }
})

/** A phase may have been given another title since its state file was written. */
const summaryBeside = ({ phase }: Run, id: PhaseId): string | undefined =>
  phase?.id === id && phase.statePath !== undefined ? besideState(phase.statePath) : undefined

/** Beside the phase's state file. */
export const writePhaseSummary = (run: Run, phase: PhaseId): RunEvent => ({
  _tag: "WorkspaceAsked",
  command: {
    _tag: "WriteSummary",
    runId: run.runId,
    phase,
    path: summaryBeside(run, phase) ?? summaryPath(phase, slugOf(plannedPhase(run, phase)?.title ?? "")),
    text: renderSummary(summaryOf(run, phase))
  }
})
